// Evaluates rules between settings of skep.yaml. They are code, because no API server reads them (docs/decisions/0304).
// Each rule belongs to the schema of the value that it checks.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { isObject, type Json, pointerToken } from '#std/json.ts';
import { RULES } from '#std/schema/marks.ts';
import type { Static, TSchema } from '#std/schema.ts';

/** A sentence for the author, and its place. */
interface Fault {
  readonly message: string;
  /** JSON pointer of the setting that the message is about, below the value. If absent, the value itself. */
  readonly at?: string;
}

/** A rule about a value. The functions receive values that have the types of their schema, and their defaults. */
export type Rule<T> =
  | (Fault & { readonly holds: (value: T) => boolean })
  /**
   * A rule whose faults have places that depend on the value. `message` describes the rule for the reference of the
   * settings.
   */
  | { readonly message: string; readonly faults: (value: T) => readonly Fault[] };

/**
 * Attaches rules to a schema. Call it before `optional`, because a copy of a schema loses the mark of `optional`. It
 * does not work for values of maps. The JSON of a schema contains at most the messages.
 */
export function withRules<T extends TSchema>(schema: T, rules: readonly Rule<Static<T>>[]): T {
  return { ...schema, [RULES]: rules };
}

interface Ruled {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly [RULES]?: readonly Rule<Json>[];
}

/** Finds the broken rules of a value and of all values below it. `value` must have the types of the schema. */
export function brokenRules(schema: TSchema, value: Json, pointer = ''): Finding[] {
  const { properties = {}, items, [RULES]: rules = [] }: Ruled = schema;
  const broken = rules.flatMap((rule) => faultsOfRule(rule, value)).map((fault) => findingOf(fault, pointer));
  if (Array.isArray(value)) {
    if (items === undefined) return broken;
    return [...broken, ...value.flatMap((item, index) => brokenRules(items, item, `${pointer}/${index}`))];
  }
  if (!isObject(value)) return broken;
  const below = Object.entries(properties).flatMap(([name, inner]) => {
    const found = value[name];
    return found === undefined ? [] : brokenRules(inner, found, `${pointer}/${pointerToken(name)}`);
  });
  return [...broken, ...below];
}

function faultsOfRule(rule: Rule<Json>, value: Json): readonly Fault[] {
  if ('faults' in rule) return rule.faults(value);
  return rule.holds(value) ? [] : [rule];
}

function findingOf({ message, at = '' }: Fault, pointer: string): Finding {
  const where = pointer + at;
  return { code: 'setting-rule', severity: 'error', pointer: where, message: `${fieldPath(where)}: ${message}` };
}

// Evaluates rules between settings of skep.yaml. Rules are functions instead of CEL, because no API server reads them
// (docs/decisions/0304). Each rule is attached to the schema of the value that it checks.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { isObject, type Json, pointerToken } from '#std/json.ts';
import { RULES } from '#std/schema/marks.ts';
import type { Static, TSchema } from '#std/schema.ts';

/** Message about a broken rule. */
interface Fault {
  readonly message: string;
  /**
   * JSON pointer to the wrong setting, relative to the checked value. If not set, the checked value itself is wrong.
   */
  readonly at?: string;
}

/** Rule about a value. Its function receives values that are valid against the schema, with defaults. */
export type Rule<T> =
  | (Fault & { readonly holds: (value: T) => boolean })
  /** Rule whose faults can be at several places. `message` describes the rule in the reference of the settings. */
  | { readonly message: string; readonly faults: (value: T) => readonly Fault[] };

/**
 * Returns the schema with the rules. `brokenRules` evaluates rules everywhere except in values of maps. Must be called
 * before `optional`, because the copy would lose the mark of `optional`.
 */
export function withRules<T extends TSchema>(schema: T, rules: readonly Rule<Static<T>>[]): T {
  return { ...schema, [RULES]: rules };
}

interface Ruled {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly [RULES]?: readonly Rule<Json>[];
}

/**
 * Returns a finding for each broken rule of the value and of all values below it. `value` must be valid against the
 * schema.
 */
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

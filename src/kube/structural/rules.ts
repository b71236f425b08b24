// Evaluates the `x-kubernetes-validations` of a schema at every level of an object. Knows nothing about how CEL works.
// Source: CustomResourceDefinitions, "Validation rules".

import { isObject, type Json, jsonEquals, pointerToken } from '../../std/json.ts';
import type { Outcome, Rule } from '../cel/rule.ts';
import { type CelScope, celScope } from '../cel/scope.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { fieldOf } from './defaults.ts';
import { fieldPath } from './path.ts';
import type { Report } from './report.ts';
import type { RuleText, SchemaNode } from './schema.ts';

/** Scopes are made when a first value asks for them, and kept with the schema. */
const scopes = new WeakMap<SchemaNode, CelScope | 'none'>();

/** The types that rules at the node see. Undefined where the node has no rules, or rules cannot see its values. */
export function scopeOf(node: SchemaNode, root: boolean): CelScope | undefined {
  const known = scopes.get(node) ?? celScope(node, root) ?? 'none';
  scopes.set(node, known);
  return known === 'none' ? undefined : known;
}

/** `old`: what lives at the same place, where that can be told. */
export function validateRules(
  out: Report,
  node: SchemaNode,
  value: Json,
  old: Json | undefined,
  pointer: string,
): void {
  if (value === null || !node.deep.rules) return;
  if (node.rules.length > 0) applyRules(out, node, value, old ?? undefined, pointer);
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      validateRules(out, items, item, oldItem(node, item, old), `${pointer}/${index}`);
    }
  } else if (isObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const schema = fieldOf(node, name);
      if (schema === undefined || field === undefined) continue;
      const before = isObject(old) && !node.mapAtomic ? old[name] : undefined;
      validateRules(out, schema, field, before, `${pointer}/${pointerToken(name)}`);
    }
  }
}

/** Only entries of lists with keys can be told again. */
function oldItem(node: SchemaNode, item: Json, old: Json | undefined): Json | undefined {
  if (node.listType !== 'map' || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find((each) => isObject(each) && node.listKeys.every((key) => jsonEquals(each[key], item[key])));
}

function applyRules(out: Report, node: SchemaNode, value: Json, old: Json | undefined, pointer: string): void {
  const scope = scopeOf(node, pointer === '');
  if (scope === undefined) {
    add(out, 'cel-unsupported', pointer, 'has rules, but no type that rules can see.');
    return;
  }
  const self = scope.value(value);
  for (const text of node.rules) applyRule(out, { scope, text, self, value, old, pointer });
}

interface Application {
  readonly scope: CelScope;
  readonly text: RuleText;
  readonly self: unknown;
  readonly value: Json;
  readonly old: Json | undefined;
  readonly pointer: string;
}

function applyRule(out: Report, application: Application): void {
  const { scope, text, value, old, pointer } = application;
  const rule = scope.compile(text.rule, 'bool', text.optionalOldSelf);
  switch (rule.type) {
    case 'invalid':
      add(out, 'cel-compile', pointer, `has a rule that does not compile: ${rule.reason} (${text.rule})`);
      return;
    case 'unsupported':
      add(
        out,
        'cel-unsupported',
        pointer,
        `has a rule that only the API server can check: ${rule.reason} (${text.rule})`,
      );
      return;
    case 'rule':
      break;
  }
  if (rule.usesOldSelf && old === undefined && text.optionalOldSelf !== true) return;
  // What did not change is not held against a rule that came later.
  if (!rule.usesOldSelf && old !== undefined && jsonEquals(value, old)) return;
  const outcome = evaluate(rule, application);
  if (outcome.type === 'error') {
    add(out, 'cel-error', pointer, `cannot be checked by a rule of its schema: ${outcome.message} (${text.rule})`);
  } else if (outcome.value !== true) {
    out.findings.push(violation(application));
  }
}

function evaluate(rule: Rule, { scope, text, self, old }: Application): Outcome {
  if (!rule.usesOldSelf) return rule.evaluate(self);
  if (text.optionalOldSelf === true) return rule.evaluate(self, scope.optional(old));
  return rule.evaluate(self, old === undefined ? undefined : scope.value(old));
}

/** What the rule's author wrote for this case. */
function violation(application: Application): Finding {
  const { text, pointer } = application;
  const where = pointer + relativePointer(text.fieldPath ?? '');
  const message = expressedMessage(application) ?? text.message?.trim() ?? `failed rule: ${text.rule.trim()}`;
  return {
    code: 'cel-rule',
    severity: 'error',
    pointer: where,
    message: `${fieldPath(where)}: ${message}`,
    ...(text.reason === undefined ? {} : { reason: text.reason }),
  };
}

/** Undefined where there is no `messageExpression`, or it gives nothing to show: then `message` counts. */
function expressedMessage(application: Application): string | undefined {
  const { scope, text } = application;
  if (text.messageExpression === undefined) return undefined;
  const rule = scope.compile(text.messageExpression, 'string', text.optionalOldSelf);
  if (rule.type !== 'rule') return undefined;
  const outcome = evaluate(rule, application);
  const message = outcome.type === 'value' && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return message === '' || /[\r\n]/.test(message) ? undefined : message;
}

/** `.spec.ports['x']` as a JSON pointer; the schema was checked to have such a field. */
export function relativePointer(path: string): string {
  let pointer = '';
  for (const match of path.matchAll(/\['((?:\\.|[^'\\])*)'\]|\.?([^.[\]]+)/g)) {
    const [, quoted, plain] = match;
    const token = plain ?? (quoted ?? '').replaceAll(/\\(.)/g, '$1');
    pointer += `/${pointerToken(token)}`;
  }
  return pointer;
}

function add(out: Report, code: SchemaCode, pointer: string, message: string): void {
  const severity = code === 'cel-unsupported' ? 'warning' : 'error';
  out.findings.push({ code, severity, pointer, message: `${fieldPath(pointer)} ${message}` });
}

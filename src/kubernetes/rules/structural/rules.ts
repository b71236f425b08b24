// Evaluates the `x-kubernetes-validations` of a schema at every level of an object. Source: CustomResourceDefinitions,
// "Validation rules".

import { isObject, type Json, jsonEquals, pointerToken } from '#std/json.ts';
import type { CompiledRule, EvaluableRule, RuleOutcome } from '../cel/rule.ts';
import { type CelScope, celScope } from '../cel/scope.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { correlated } from './correlate.ts';
import { fieldOf } from './defaults.ts';
import { fieldPath } from './path.ts';
import type { Report } from './report.ts';
import { pointerOf, type RuleText, type SchemaNode } from './schema.ts';

export interface NodeRules {
  readonly scope: CelScope;
  readonly rules: readonly { readonly text: RuleText; readonly compiled: CompiledRule }[];
}

/** Rules by schema node, compiled when the first value needs them. */
const known = new WeakMap<SchemaNode, NodeRules | 'invisible'>();

/** Returns undefined if CEL rules cannot read the node's values. `root`: the node describes a whole resource. */
export function rulesOf(node: SchemaNode, root: boolean): NodeRules | undefined {
  const kept = known.get(node) ?? compileRules(node, root) ?? 'invisible';
  known.set(node, kept);
  return kept === 'invisible' ? undefined : kept;
}

function compileRules(node: SchemaNode, root: boolean): NodeRules | undefined {
  const scope = celScope(node, root);
  if (scope === undefined) return undefined;
  const rules = node.rules.map((text) => ({ text, compiled: scope.compile(text.rule, 'bool', text.optionalOldSelf) }));
  return { scope, rules };
}

export interface RuleSubject {
  readonly value: Json;
  /** The value before the change. undefined if no value existed or it cannot be determined. */
  readonly old: Json | undefined;
  /**
   * True if the value is unchanged. For a value without an earlier value, this is the result for the nearest enclosing
   * value that has an earlier value.
   */
  readonly unchanged: boolean;
  readonly pointer: string;
}

export function subjectOf(value: Json, old: Json | undefined, pointer: string, above: boolean): RuleSubject {
  return { value, old, unchanged: old === undefined ? above : jsonEquals(value, old), pointer };
}

export function validateRules(out: Report, node: SchemaNode, subject: RuleSubject): void {
  const { value, old, unchanged, pointer } = subject;
  if (value === null || !node.deep.rules) return;
  if (node.rules.length > 0) applyRules(out, node, subject);
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    if (!items.deep.rules) return;
    for (const [index, item] of value.entries()) {
      validateRules(
        out,
        items,
        subjectOf(item, correlated(node, old, String(index), item), `${pointer}/${index}`, unchanged),
      );
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const field = value[name];
      const schema = fieldOf(node, name);
      if (schema === undefined || field === undefined || !schema.deep.rules) continue;
      const before = correlated(node, old, name, field);
      validateRules(out, schema, subjectOf(field, before, pointerOf(pointer, name, schema), unchanged));
    }
  }
}

function applyRules(out: Report, node: SchemaNode, subject: RuleSubject): void {
  const { value, pointer } = subject;
  const compiled = rulesOf(node, pointer === '');
  if (compiled === undefined) {
    add(out, 'cel-unsupported', pointer, 'has rules, but no type that rules can read.');
    return;
  }
  const { scope } = compiled;
  const self = scope.value(value);
  for (const { text, compiled: rule } of compiled.rules) {
    applyRule(out, rule, { ...subject, scope, text, self });
  }
}

interface Application extends RuleSubject {
  readonly scope: CelScope;
  readonly text: RuleText;
  readonly self: unknown;
}

function applyRule(out: Report, rule: CompiledRule, application: Application): void {
  const { text, old, unchanged, pointer } = application;
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
  const outcome = evaluate(rule, application);
  if (outcome.type === 'error') {
    add(out, 'cel-error', pointer, `cannot be checked by a rule of its schema: ${outcome.message} (${text.rule})`);
    return;
  }
  // An unchanged value need not satisfy a rule that was added later.
  if (outcome.value === true || (unchanged && !rule.usesOldSelf)) return;
  out.findings.push(violation(application));
}

function evaluate(rule: EvaluableRule, { scope, text, self, old }: Application): RuleOutcome {
  if (!rule.usesOldSelf) return rule.evaluate(self);
  if (text.optionalOldSelf === true) return rule.evaluate(self, scope.optional(old));
  return rule.evaluate(self, old === undefined ? undefined : scope.value(old));
}

/** Returns a finding with the message that the author of the rule wrote. */
function violation(application: Application): Finding {
  const { text, pointer } = application;
  const where =
    pointer + (relativeTokens(text.fieldPath ?? '') ?? []).map((token) => `/${pointerToken(token)}`).join('');
  const message = expressedMessage(application) ?? text.message?.trim() ?? `failed rule: ${text.rule.trim()}`;
  return {
    code: 'cel-rule',
    severity: 'error',
    pointer: where,
    message: `${fieldPath(where)}: ${message}`,
    reason: text.reason,
  };
}

/**
 * Returns the result of `messageExpression`. undefined if it is absent or its result is unusable: `message` is used
 * instead.
 */
function expressedMessage(application: Application): string | undefined {
  const { scope, text } = application;
  if (text.messageExpression === undefined) return undefined;
  const rule = scope.compile(text.messageExpression, 'string', text.optionalOldSelf);
  if (rule.type !== 'rule') return undefined;
  const outcome = evaluate(rule, application);
  const message = outcome.type === 'value' && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return message === '' || /[\r\n]/.test(message) ? undefined : message;
}

/** Returns the names in `.spec.ports['x']`. undefined if the text is not such a path. */
export function relativeTokens(path: string): string[] | undefined {
  const matches = [...path.matchAll(/\['((?:\\.|[^'\\])*)'\]|(?:^|\.)([^.[\]]+)/g)];
  if (matches.map(([whole]) => whole).join('') !== path) return undefined;
  return matches.map(([, quoted, plain]) => plain ?? (quoted ?? '').replaceAll(/\\(.)/g, '$1'));
}

function add(out: Report, code: SchemaCode, pointer: string, message: string): void {
  const severity = code === 'cel-unsupported' ? 'warning' : 'error';
  out.findings.push({ code, severity, pointer, message: `${fieldPath(pointer)} ${message}` });
}

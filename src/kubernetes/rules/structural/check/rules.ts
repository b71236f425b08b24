// Checks the `x-kubernetes-validations` of one schema: rules must be complete and compile against the schema's types.
// Source: CustomResourceDefinitions, "Validation rules".

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { CompiledRule } from '../../cel/rule.ts';
import type { CelScope } from '../../cel/scope.ts';
import { fieldPath } from '../path.ts';
import { forbid, type Report, report } from '../report.ts';
import { relativeTokens, rulesOf } from '../rules.ts';
import type { SchemaNode } from '../schema.ts';
import type { SchemaPosition } from './place.ts';

const REASONS = ['FieldValueRequired', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueDuplicate'];

export function checkRules(
  out: Report,
  node: SchemaNode,
  rules: Json | undefined,
  place: Pick<SchemaPosition, 'pointer' | 'level' | 'uncorrelatable'>,
): void {
  if (!Array.isArray(rules) || rules.length === 0) return;
  const at = `${place.pointer}/x-kubernetes-validations`;
  const scope = rulesOf(node, place.level === 'root')?.scope;
  if (scope === undefined) {
    report(out, 'cel-compile', at, 'are on values that rules cannot read.');
    return;
  }
  for (const [index, rule] of rules.entries()) {
    if (isObject(rule))
      checkRule(out, { node, scope, rule, pointer: `${at}/${index}`, uncorrelatable: place.uncorrelatable });
    else report(out, 'schema-type', `${at}/${index}`, 'must be a mapping with a rule.');
  }
}

interface RuleCheck {
  readonly node: SchemaNode;
  readonly scope: CelScope;
  readonly rule: JsonObject;
  readonly pointer: string;
  readonly uncorrelatable: string | undefined;
}

function checkRule(out: Report, checked: RuleCheck): void {
  const { rule, pointer } = checked;
  checkTexts(out, checked);
  if (typeof rule.rule !== 'string' || rule.rule.trim() === '') return;
  const optional = rule.optionalOldSelf === true;
  const compiled = checked.scope.compile(rule.rule, 'bool', optional);
  reportUncompiled(out, compiled, `${pointer}/rule`);
  if (compiled.type === 'rule') checkOldSelf(out, compiled.usesOldSelf, checked);
  if (typeof rule.messageExpression !== 'string' || rule.messageExpression.trim() === '') return;
  reportUncompiled(
    out,
    checked.scope.compile(rule.messageExpression, 'string', optional),
    `${pointer}/messageExpression`,
  );
}

function reportUncompiled(out: Report, compiled: CompiledRule, pointer: string): void {
  if (compiled.type === 'rule') return;
  const unsupported = compiled.type === 'unsupported';
  out.findings.push({
    code: unsupported ? 'cel-unsupported' : 'cel-compile',
    severity: unsupported ? 'warning' : 'error',
    pointer,
    message: `${fieldPath(pointer)} ${unsupported ? 'cannot be checked here' : 'does not compile'}: ${compiled.reason}`,
  });
}

function checkOldSelf(out: Report, uses: boolean, { rule, pointer, uncorrelatable }: RuleCheck): void {
  if (uses && uncorrelatable !== undefined) {
    forbid(
      out,
      `${pointer}/rule`,
      `must not use oldSelf: entries of ${fieldPath(uncorrelatable)} cannot be matched with their earlier state.`,
    );
  }
  if (!uses && rule.optionalOldSelf !== undefined) {
    forbid(out, `${pointer}/optionalOldSelf`, 'may be set only if the rule uses oldSelf.');
  }
}

function checkTexts(out: Report, { node, rule, pointer }: RuleCheck): void {
  const { rule: text, message, messageExpression, reason, fieldPath: path } = rule;
  const blank = (value: Json | undefined): boolean => typeof value === 'string' && value.trim() === '';
  if (typeof text !== 'string' || blank(text)) forbid(out, `${pointer}/rule`, 'must not be empty.');
  if (typeof message === 'string' && message !== '' && blank(message))
    forbid(out, `${pointer}/message`, 'must not be blank.');
  if (typeof message === 'string' && hasLines(message.trim()))
    forbid(out, `${pointer}/message`, 'must not have line breaks.');
  else if (typeof text === 'string' && hasLines(text.trim()) && (message === undefined || blank(message))) {
    forbid(out, `${pointer}/message`, 'must be set if the rule has line breaks.');
  }
  if (messageExpression !== '' && blank(messageExpression))
    forbid(out, `${pointer}/messageExpression`, 'must not be blank.');
  if (reason !== undefined && !REASONS.includes(String(reason))) {
    forbid(out, `${pointer}/reason`, `must be one of ${REASONS.join(', ')}.`);
  }
  if (typeof path === 'string' && path !== '' && !leadsSomewhere(node, path)) {
    forbid(out, `${pointer}/fieldPath`, 'must be a path to a field of this schema, such as .spec.name.');
  }
}

function hasLines(text: string): boolean {
  return /[\r\n]/.test(text);
}

function leadsSomewhere(root: SchemaNode, path: string): boolean {
  const tokens = relativeTokens(path);
  if (tokens === undefined || tokens.length === 0) return false;
  let node: SchemaNode | undefined = root;
  for (const token of tokens) {
    const next: SchemaNode | 'any' | undefined = node?.properties.get(token) ?? node?.additional;
    if (next === undefined || next === 'any') return false;
    node = next;
  }
  return true;
}

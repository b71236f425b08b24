// Checks a ValidatingAdmissionPolicy or its binding as an API server does. The schema check covers the types of the
// fields. Source: Kubernetes 1.36, validation of admissionregistration.

import { isObject, type JsonObject } from '#std/json.ts';
import { admissionScope, variableType } from '../cel/admission.ts';
import type { ExpressionScope } from '../cel/expression.ts';
import { compileExpression } from '../cel/expression.ts';
import type { Finding } from '../finding.ts';
import { qualifiedNameFault, subdomainFault } from '../formats/names.ts';
import type { Report } from '../structural/report.ts';
import { checkMatch, checkParamKind, checkParamRef } from './check-match.ts';
import { ACTIONS, objectOf, objectsOf, textsOf } from './policy.ts';
import { refuseField, requireOneOf } from './refuse.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const MAX_CONDITIONS = 64;
const MAX_ANNOTATIONS = 20;
const MAX_ANNOTATION_EXPRESSION = 5 * 1024;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED =
  /^(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/;

export function checkPolicy(object: JsonObject): readonly Finding[] {
  const out: Report = { findings: [] };
  const spec = objectOf(object.spec);
  requireOneOf(out, spec.failurePolicy, FAILURE_POLICIES, '/spec/failurePolicy');
  if (isObject(spec.paramKind)) checkParamKind(out, spec.paramKind, '/spec/paramKind');
  if (!isObject(spec.matchConstraints)) refuseField(out, '/spec/matchConstraints', 'is required.');
  else {
    checkMatch(out, spec.matchConstraints, '/spec/matchConstraints');
    if (objectsOf(spec.matchConstraints.resourceRules).length === 0) {
      refuseField(out, '/spec/matchConstraints/resourceRules', 'must hold at least one rule.');
    }
  }
  checkConditions(out, spec);
  const scopes = checkVariables(out, spec);
  checkValidations(out, spec, scopes);
  checkAnnotations(out, spec, scopes, objectOf(object.metadata).name);
  return out.findings;
}

export function checkBinding(object: JsonObject): readonly Finding[] {
  const out: Report = { findings: [] };
  const { policyName, paramRef, matchResources, validationActions } = objectOf(object.spec);
  const fault = typeof policyName === 'string' && policyName !== '' ? subdomainFault(policyName) : 'is required';
  if (fault !== undefined) refuseField(out, '/spec/policyName', `${fault}.`);
  if (isObject(paramRef)) checkParamRef(out, paramRef, '/spec/paramRef');
  if (isObject(matchResources)) checkMatch(out, matchResources, '/spec/matchResources');
  const at = '/spec/validationActions';
  const actions = textsOf(validationActions);
  for (const [index, action] of actions.entries()) {
    requireOneOf(out, action, ACTIONS, `${at}/${index}`);
    if (actions.indexOf(action) < index) refuseField(out, `${at}/${index}`, 'is listed twice.');
  }
  if (actions.length === 0) refuseField(out, at, 'must hold at least one of Deny, Warn, Audit.');
  if (actions.includes('Deny') && actions.includes('Warn')) refuseField(out, at, 'must not hold both Deny and Warn.');
  return out.findings;
}

interface Scopes {
  readonly full: ExpressionScope;
  /** Scope of message expressions, which must not use the authorizer. */
  readonly message: ExpressionScope;
}

function checkConditions(out: Report, spec: JsonObject): void {
  const conditions = objectsOf(spec.matchConditions);
  if (conditions.length > MAX_CONDITIONS) {
    refuseField(out, '/spec/matchConditions', `must hold at most ${MAX_CONDITIONS} conditions.`);
  }
  const names = conditions.map(({ name }) => name);
  const scope = admissionScope({ params: isObject(spec.paramKind), authorizer: true });
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `/spec/matchConditions/${index}`;
    const fault = typeof name === 'string' && name !== '' ? qualifiedNameFault(name) : 'is required';
    if (fault !== undefined) refuseField(out, `${at}/name`, `${fault}.`);
    else if (names.indexOf(name) < index) refuseField(out, `${at}/name`, 'is the name of an earlier condition.');
    checkExpression(out, scope, expression, ['bool'], `${at}/expression`);
  }
}

/** Checks the variables. Each expression may use the previous variables. */
function checkVariables(out: Report, spec: JsonObject): Scopes {
  const params = isObject(spec.paramKind);
  const variables = objectsOf(spec.variables);
  const types = new Map<string, string>();
  for (const [index, { name, expression }] of variables.entries()) {
    const at = `/spec/variables/${index}`;
    const usable = typeof name === 'string' && IDENTIFIER.test(name) && !RESERVED.test(name);
    if (!usable) refuseField(out, `${at}/name`, 'must be an identifier of CEL.');
    const scope = admissionScope({ params, authorizer: true, variables: types });
    const type = checkExpression(out, scope, expression, undefined, `${at}/expression`);
    if (usable) types.set(name, type === undefined ? 'dyn' : variableType(type));
  }
  const known = variables.length === 0 ? {} : { variables: types };
  return {
    full: admissionScope({ params, authorizer: true, ...known }),
    message: admissionScope({ params, authorizer: false, ...known }),
  };
}

function checkValidations(out: Report, spec: JsonObject, scopes: Scopes): void {
  const validations = objectsOf(spec.validations);
  if (validations.length + objectsOf(spec.auditAnnotations).length === 0) {
    refuseField(out, '/spec/validations', 'or auditAnnotations must hold at least one entry.');
  }
  for (const [index, validation] of validations.entries()) {
    const { expression, message, messageExpression, reason } = validation;
    const at = `/spec/validations/${index}`;
    checkExpression(out, scopes.full, expression, ['bool'], `${at}/expression`);
    if (typeof messageExpression === 'string' && messageExpression !== '') {
      checkExpression(out, scopes.message, messageExpression, ['string'], `${at}/messageExpression`);
    }
    if (typeof message === 'string' && message !== '') {
      const text = message.trim();
      if (text === '') refuseField(out, `${at}/message`, 'must not be blank.');
      if (/[\r\n]/.test(text)) refuseField(out, `${at}/message`, 'must be a single line.');
    }
    requireOneOf(out, reason, REASONS, `${at}/reason`);
  }
}

function checkAnnotations(out: Report, spec: JsonObject, scopes: Scopes, policy: unknown): void {
  const annotations = objectsOf(spec.auditAnnotations);
  if (annotations.length > MAX_ANNOTATIONS) {
    refuseField(out, '/spec/auditAnnotations', `must hold at most ${MAX_ANNOTATIONS} annotations.`);
  }
  const keys = annotations.map(({ key }) => key);
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const at = `/spec/auditAnnotations/${index}`;
    const fault = qualifiedNameFault(`${String(policy)}/${String(key ?? '')}`);
    if (fault !== undefined) refuseField(out, `${at}/key`, `${fault}.`);
    if (keys.indexOf(key) < index) refuseField(out, `${at}/key`, 'is the key of an earlier annotation.');
    if (typeof valueExpression === 'string' && valueExpression.trim().length > MAX_ANNOTATION_EXPRESSION) {
      refuseField(out, `${at}/valueExpression`, `must have at most ${MAX_ANNOTATION_EXPRESSION} bytes.`);
    } else checkExpression(out, scopes.full, valueExpression, ['string', 'null'], `${at}/valueExpression`);
  }
}

/**
 * Returns the type of the result. undefined if the expression is invalid or unsupported. If `expected` is undefined,
 * any type is valid.
 */
function checkExpression(
  out: Report,
  scope: ExpressionScope,
  text: unknown,
  expected: readonly string[] | undefined,
  pointer: string,
): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') {
    refuseField(out, pointer, 'is required.');
    return undefined;
  }
  const compiled = compileExpression(scope, text);
  switch (compiled.type) {
    case 'invalid':
      refuseField(out, pointer, `does not compile: ${compiled.reason}.`, 'policy-expression');
      return undefined;
    // The server may accept the expression. The evaluation reports that skep does not support it.
    case 'unsupported':
      return undefined;
    case 'expression': {
      const { resultType } = compiled;
      if (expected === undefined || expected.includes(resultType)) return resultType;
      const message = `must evaluate to ${expected.join(' or ')}, but evaluates to ${resultType}${hint(resultType, expected)}.`;
      refuseField(out, pointer, message, 'policy-expression');
      return undefined;
    }
  }
}

/** Explains the type dyn, because the server also refuses a result of this type. */
function hint(found: string, [expected]: readonly string[]): string {
  if (found !== 'dyn') return '';
  return expected === 'bool' ? ', which may be anything: compare it, as in "... == true"' : ': wrap it in string(...)';
}

// Checks the parts of a policy that select requests, as an API server does: rules, selectors, references to parameters.
// Source: Kubernetes 1.36, validation of admissionregistration.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import {
  dns1035Fault,
  labelValueFault,
  pathSegmentFault,
  qualifiedNameFault,
  subdomainFault,
} from '../formats/names.ts';
import type { Report } from '../structural/report.ts';
import { objectsOf, textsOf } from './policy.ts';
import { refuseField, requireOneOf } from './refuse.ts';

const OPERATIONS = ['CONNECT', 'CREATE', 'DELETE', 'UPDATE', '*'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const NOT_FOUND = ['Allow', 'Deny'];

export function checkMatch(out: Report, match: JsonObject, pointer: string): void {
  requireOneOf(out, match.matchPolicy, MATCH_POLICIES, `${pointer}/matchPolicy`);
  checkSelector(out, match.namespaceSelector, `${pointer}/namespaceSelector`);
  checkSelector(out, match.objectSelector, `${pointer}/objectSelector`);
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    for (const [index, rule] of objectsOf(match[field]).entries()) checkRule(out, rule, `${pointer}/${field}/${index}`);
  }
}

function checkRule(out: Report, rule: JsonObject, pointer: string): void {
  const names = textsOf(rule.resourceNames);
  for (const [index, name] of names.entries()) {
    const at = `${pointer}/resourceNames/${index}`;
    const fault = pathSegmentFault(name);
    if (fault !== undefined) refuseField(out, at, `${fault}.`);
    if (names.indexOf(name) < index) refuseField(out, at, 'is listed twice.');
  }
  const operations = readFilledList(out, rule.operations, `${pointer}/operations`);
  for (const [index, operation] of operations.entries()) {
    requireOneOf(out, operation, OPERATIONS, `${pointer}/operations/${index}`);
  }
  readFilledList(out, rule.apiGroups, `${pointer}/apiGroups`);
  const versions = readFilledList(out, rule.apiVersions, `${pointer}/apiVersions`);
  for (const [index, version] of versions.entries()) {
    if (version === '') refuseField(out, `${pointer}/apiVersions/${index}`, 'must not be empty.');
  }
  checkResources(out, textsOf(rule.resources), `${pointer}/resources`);
  requireOneOf(out, rule.scope, SCOPES, `${pointer}/scope`);
}

/** Reads a list and reports faults: the list must not be empty, and a list with `*` must have no other entry. */
function readFilledList(out: Report, list: Json | undefined, pointer: string): readonly string[] {
  const texts = textsOf(list);
  if (texts.length === 0) refuseField(out, pointer, 'must hold at least one entry.');
  if (texts.length > 1 && texts.includes('*')) refuseField(out, pointer, 'must have no other entry besides "*".');
  return texts;
}

function checkResources(out: Report, resources: readonly string[], pointer: string): void {
  if (resources.length === 0) refuseField(out, pointer, 'must hold at least one entry.');
  const wholes = new Set<string>();
  const subresources = new Set<string>();
  for (const [index, text] of resources.entries()) {
    const at = `${pointer}/${index}`;
    if (text === '') refuseField(out, at, 'must not be empty.');
    const slash = text.indexOf('/');
    if (slash < 0) continue;
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wholes.has(resource)) refuseField(out, at, `is part of "${resource}/*", which is already listed.`);
    if (subresources.has(subresource)) refuseField(out, at, `is part of "*/${subresource}", which is already listed.`);
    if (subresource === '*') wholes.add(resource);
    if (resource === '*') subresources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    refuseField(out, pointer, 'must have no other entry besides "*/*".');
  const plain = resources.findLast((text) => !text.includes('/'));
  if (resources.includes('*') && plain !== undefined && plain !== '*') {
    refuseField(out, pointer, 'must have no other resource besides "*".');
  }
}

function checkSelector(out: Report, selector: Json | undefined, pointer: string): void {
  if (!isObject(selector)) return;
  const { matchLabels } = selector;
  for (const [key, value] of Object.entries(isObject(matchLabels) ? matchLabels : {})) {
    const fault = qualifiedNameFault(key) ?? (typeof value === 'string' ? labelValueFault(value) : undefined);
    if (fault !== undefined) refuseField(out, `${pointer}/matchLabels`, `has the label "${key}", which ${fault}.`);
  }
  for (const [index, { key, operator, values }] of objectsOf(selector.matchExpressions).entries()) {
    const at = `${pointer}/matchExpressions/${index}`;
    const fault = typeof key === 'string' ? qualifiedNameFault(key) : undefined;
    if (fault !== undefined) refuseField(out, `${at}/key`, `${fault}.`);
    const texts = textsOf(values);
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (texts.length === 0) refuseField(out, `${at}/values`, `must hold at least one value for ${operator}.`);
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (texts.length > 0) refuseField(out, `${at}/values`, `must be left out for ${operator}.`);
        break;
      default:
        refuseField(out, `${at}/operator`, 'must be one of In, NotIn, Exists, DoesNotExist.');
    }
    for (const [position, value] of texts.entries()) {
      const wrong = labelValueFault(value);
      if (wrong !== undefined) refuseField(out, `${at}/values/${position}`, `${wrong}.`);
    }
  }
}

export function checkParamKind(out: Report, { apiVersion, kind }: JsonObject, pointer: string): void {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  const parts = text.split('/');
  const [version = '', group] = parts.toReversed();
  if (text === '') refuseField(out, `${pointer}/apiVersion`, 'is required.');
  else if (parts.length > 2)
    refuseField(out, `${pointer}/apiVersion`, 'must be a group and a version, such as apps/v1.');
  else {
    const fault = (group === undefined ? undefined : subdomainFault(group)) ?? dns1035Fault(version);
    if (fault !== undefined) refuseField(out, `${pointer}/apiVersion`, `${fault}.`);
  }
  const name = typeof kind === 'string' ? kind : '';
  const fault = name === '' ? 'is required' : dns1035Fault(name.toLowerCase());
  if (fault !== undefined) refuseField(out, `${pointer}/kind`, `${fault}.`);
}

export function checkParamRef(out: Report, paramRef: JsonObject, pointer: string): void {
  const { name, selector, parameterNotFoundAction } = paramRef;
  const named = typeof name === 'string' && name !== '';
  if (named) {
    const fault = pathSegmentFault(name);
    if (fault !== undefined) refuseField(out, `${pointer}/name`, `${fault}.`);
    if (isObject(selector)) refuseField(out, `${pointer}/name`, 'and selector exclude each other.');
  }
  checkSelector(out, selector, `${pointer}/selector`);
  if (!named && !isObject(selector)) refuseField(out, pointer, 'must have a name or a selector.');
  const action = `${pointer}/parameterNotFoundAction`;
  if (parameterNotFoundAction === undefined || parameterNotFoundAction === '') refuseField(out, action, 'is required.');
  else requireOneOf(out, parameterNotFoundAction, NOT_FOUND, action);
}

// What is wrong with the authorization of a proxy that neither schema nor CEL can say: in itself, and in the ConfigMap
// that holds it. Knows nothing about whose proxy it is.

import { authzConfigError } from '../../contracts/authz-config.ts';
import { isObject } from '../../std/json.ts';
import type { Static } from '../../std/schema.ts';
import { readDocuments } from '../../std/yaml.ts';
import type { Finding, Reference, View } from '../kind.ts';
import type { AuthzConfig } from './authz.ts';

type Authz = Static<typeof AuthzConfig>;

const POINTER = '/spec/authzConfig';

/** The ConfigMap that an AuthzConfigRef names. */
export function authzReferences(authz: Authz | undefined): readonly Reference[] {
  const policies = authz?.configMap;
  return policies === undefined ? [] : [{ pointer: `${POINTER}/configMap`, kind: 'ConfigMap', ...policies }];
}

export function inlineAuthzFindings(authz: Authz | undefined): readonly Finding[] {
  const entities = authz?.inline?.entitiesJson;
  if (entities === undefined || Array.isArray(parsed(entities))) return [];
  const pointer = `${POINTER}/inline/entitiesJson`;
  return [{ code: 'authz-entities-invalid', severity: 'error', pointer, message: 'entitiesJson must be a JSON list' }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function configMapAuthzFindings(authz: Authz | undefined, view: View): readonly Finding[] {
  const ref = authz?.configMap;
  if (ref === undefined) return [];
  const data = view.find('ConfigMap', ref.name)?.data;
  const text = isObject(data) ? data[ref.key] : undefined;
  const fault = typeof text === 'string' ? policyFault(text) : 'is missing';
  if (fault === undefined) return [];
  const message = `ConfigMap ${ref.name}, key ${ref.key}: ${fault}`;
  return [{ code: 'authz-config-invalid', severity: 'error', pointer: `${POINTER}/configMap`, message }];
}

function policyFault(text: string): string | undefined {
  const [document, ...more] = readDocuments(text, '');
  const problem = document?.problems[0];
  if (problem !== undefined) return problem.message;
  return more.length > 0 ? 'holds several documents' : authzConfigError(document?.value);
}

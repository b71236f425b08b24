// Sets the defaults of various small kinds.

import type { JsonObject } from '#std/json.ts';
import { fill, isUnset, itemsAt } from '../fields.ts';
import type { Defaulter } from './defaulter.ts';

const RBAC = 'rbac.authorization.k8s.io';

export const OTHER_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  'core.v1.Secret': secret,
  'core.v1.ServiceAccount': serviceAccount,
  'core.v1.PersistentVolumeClaimSpec': (spec) => fill(spec, { volumeMode: 'Filesystem' }),
  'rbac.v1.RoleRef': (role) => fill(role, { apiGroup: RBAC }),
  'rbac.v1.Subject': (subject) => (subject.kind === 'ServiceAccount' ? subject : fill(subject, { apiGroup: RBAC })),
  'networking.v1.NetworkPolicyPort': (port) => fill(port, { protocol: 'TCP' }),
  'networking.v1.NetworkPolicySpec': (spec) =>
    isUnset(spec.policyTypes) ? { ...spec, policyTypes: policyTypes(spec) } : spec,
};

/** Merges `stringData` into `data`, because a server never returns `stringData`. */
function secret(value: JsonObject): JsonObject {
  const { stringData, ...rest } = fill(value, { type: 'Opaque' });
  if (typeof stringData !== 'object' || stringData === null || Array.isArray(stringData)) return rest;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  const data = typeof rest.data === 'object' && rest.data !== null && !Array.isArray(rest.data) ? rest.data : {};
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
}

/** Keeps only the names in references to Secrets, which are always in the account's namespace. */
function serviceAccount(value: JsonObject): JsonObject {
  const secrets = itemsAt(value, 'secrets');
  if (secrets.length === 0) return value;
  return { ...value, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}

function policyTypes(spec: JsonObject): string[] {
  return itemsAt(spec, 'egress').length === 0 ? ['Ingress'] : ['Ingress', 'Egress'];
}

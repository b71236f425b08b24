// Checks the smaller kinds: ConfigMap, Secret, RBAC, NetworkPolicy, Lease, PersistentVolumeClaim.

import { isIP } from 'node:net';
import { type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../../rules/object.ts';
import type { Cause } from '../../api/status.ts';
import { isUnset, itemsAt, objectAt } from '../fields.ts';
import {
  FIELD_IS_IMMUTABLE,
  forbiddenField,
  invalidValue,
  nonNegative,
  notSupported,
  oneOf,
  required,
} from './cause.ts';
import { validateExpressions } from './selector.ts';

const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const SIZE_LIMIT = 1024 * 1024;

export function validateConfigMap(next: KubeObject, old: KubeObject | undefined): Cause[] {
  const object = next;
  const { data, binaryData } = { data: objectAt(object, 'data'), binaryData: objectAt(object, 'binaryData') };
  const both = Object.keys(data)
    .filter((key) => Object.hasOwn(binaryData, key))
    .map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  return [
    ...frozen(object, old, ['data', 'binaryData']),
    ...keyCauses(data, 'data'),
    ...both,
    ...keyCauses(binaryData, 'binaryData'),
    ...sizeCauses(textBytes(data) + decodedBytes(binaryData), ''),
  ];
}

export function validateSecret(next: KubeObject, old: KubeObject | undefined): Cause[] {
  const object = next;
  const data = objectAt(object, 'data');
  const sameType = old === undefined || jsonEquals(object.type, old.type);
  return [
    ...(sameType ? [] : [invalidValue('type', object.type, FIELD_IS_IMMUTABLE)]),
    ...frozen(object, old, ['data']),
    ...keyCauses(data, 'data'),
    ...sizeCauses(decodedBytes(data), 'data'),
    ...typedKeys(String(object.type), data),
  ];
}

const TYPED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function typedKeys(type: string, data: JsonObject): Cause[] {
  return (TYPED_KEYS[type] ?? []).filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));
}

/** Reports changes of an immutable object: of the data, and of the field `immutable` itself. */
function frozen(next: JsonObject, old: KubeObject | undefined, keys: readonly string[]): Cause[] {
  const before: JsonObject = old ?? {};
  if (before.immutable !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  const changed = keys.filter((key) => !jsonEquals(objectAt(next, key), objectAt(before, key)));
  const mutable = next.immutable === true ? [] : [forbiddenField('immutable', why)];
  return [...mutable, ...changed.map((key) => forbiddenField(key, why))];
}

function keyCauses(data: JsonObject, field: string): Cause[] {
  return Object.keys(data).flatMap((key) => {
    if (key.length > 253) return [invalidValue(`${field}[${key}]`, key, 'must be no more than 253 characters')];
    if (key === '.' || key === '..') return [invalidValue(`${field}[${key}]`, key, `must not be '${key}'`)];
    if (key.startsWith('..')) return [invalidValue(`${field}[${key}]`, key, `must not start with '..'`)];
    return /^[-._a-zA-Z0-9]+$/.test(key) ? [] : [invalidValue(`${field}[${key}]`, key, KEY_TEXT)];
  });
}

function textBytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0);
}

/** Returns the number of decoded bytes, because the size limit applies to decoded data. */
function decodedBytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, value) => sum + Buffer.byteLength(String(value), 'base64'), 0);
}

function sizeCauses(size: number, field: string): Cause[] {
  if (size <= SIZE_LIMIT) return [];
  return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${SIZE_LIMIT} bytes`, field }];
}

export function validateRole(next: KubeObject): Cause[] {
  return itemsAt(next, 'rules').flatMap((rule, index) => {
    const path = `rules[${index}]`;
    const causes: Cause[] = [];
    if (isEmptyList(rule.verbs)) causes.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
    if (!isEmptyList(rule.nonResourceURLs)) {
      if (next.kind === 'Role')
        causes.push(
          invalidValue(
            `${path}.nonResourceURLs`,
            rule.nonResourceURLs,
            'namespaced rules cannot apply to non-resource URLs',
          ),
        );
      return causes;
    }
    if (isEmptyList(rule.apiGroups))
      causes.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    if (isEmptyList(rule.resources))
      causes.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
    return causes;
  });
}

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}

export function validateRoleBinding(next: KubeObject, old: KubeObject | undefined): Cause[] {
  const object = next;
  const role = objectAt(object, 'roleRef');
  const kinds = next.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const group = 'rbac.authorization.k8s.io';
  return [
    ...roleChange(role, old),
    ...(role.apiGroup === group ? [] : [notSupported('roleRef.apiGroup', role.apiGroup, [group])]),
    ...(kinds.includes(String(role.kind)) ? [] : [notSupported('roleRef.kind', role.kind, kinds)]),
    ...(isUnset(role.name) ? [required('roleRef.name')] : []),
    ...itemsAt(object, 'subjects').flatMap((subject, index) =>
      validateSubject(subject, `subjects[${index}]`, next.kind),
    ),
  ];
}

/** Reports a changed role reference. The message has the Go field names of the server's struct. */
function roleChange(role: JsonObject, old: KubeObject | undefined): Cause[] {
  if (old === undefined || jsonEquals(role, objectAt(old, 'roleRef'))) return [];
  const shown = { APIGroup: role.apiGroup ?? '', Kind: role.kind ?? '', Name: role.name ?? '' };
  return [invalidValue('roleRef', shown, 'cannot change roleRef')];
}

function validateSubject(subject: JsonObject, path: string, kind: string): Cause[] {
  const causes = isUnset(subject.name) ? [required(`${path}.name`)] : [];
  const kinds = ['ServiceAccount', 'User', 'Group'];
  if (!kinds.includes(String(subject.kind))) return [...causes, notSupported(`${path}.kind`, subject.kind, kinds)];
  const group = subject.kind === 'ServiceAccount' ? '' : 'rbac.authorization.k8s.io';
  if ((subject.apiGroup ?? '') !== group) causes.push(notSupported(`${path}.apiGroup`, subject.apiGroup, [group]));
  const homeless = subject.kind === 'ServiceAccount' && isUnset(subject.namespace) && kind === 'ClusterRoleBinding';
  return homeless ? [...causes, required(`${path}.namespace`)] : causes;
}

export function validateNetworkPolicy(next: KubeObject): Cause[] {
  const spec = objectAt(next, 'spec');
  return [
    ...validateExpressions(objectAt(spec, 'podSelector'), 'spec.podSelector'),
    ...itemsAt(spec, 'ingress').flatMap((rule, index) => validatePeers(rule, 'from', `spec.ingress[${index}]`)),
    ...itemsAt(spec, 'egress').flatMap((rule, index) => validatePeers(rule, 'to', `spec.egress[${index}]`)),
    ...(Array.isArray(spec.policyTypes) ? spec.policyTypes : []).flatMap((type, index) =>
      oneOf(`spec.policyTypes[${index}]`, type, ['Egress', 'Ingress']),
    ),
  ];
}

function validatePeers(rule: JsonObject, side: 'from' | 'to', path: string): Cause[] {
  return itemsAt(rule, side).flatMap((peer, index) => {
    const place = `${path}.${side}[${index}]`;
    if (Object.keys(peer).length === 0) return [required(place, 'must specify a peer')];
    if (peer.ipBlock === undefined) return [];
    const block = objectAt(peer, 'ipBlock');
    const except = Array.isArray(block.except) ? block.except : [];
    return [
      ...validateBlock(block.cidr, `${place}.ipBlock.cidr`),
      ...except.flatMap((cidr, at) => validateBlock(cidr, `${place}.ipBlock.except[${at}]`)),
    ];
  });
}

function validateBlock(value: unknown, field: string): Cause[] {
  const text = String(value ?? '');
  if (text === '') return [required(field)];
  const [address = '', bits = '', ...more] = text.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const valid = isIP(address) !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= longest && more.length === 0;
  return valid ? [] : [invalidValue(field, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}

/** Checks Events of core/v1. An Event about a cluster-scoped object must be in `default` or `kube-system`. */
export function validateEvent(next: KubeObject): Cause[] {
  const { namespace } = next.metadata;
  const involved = objectAt(next, 'involvedObject').namespace ?? '';
  const fits = involved === namespace || (involved === '' && ['default', 'kube-system'].includes(namespace ?? ''));
  return fits ? [] : [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
}

export function validateLease(next: KubeObject): Cause[] {
  const spec = objectAt(next, 'spec');
  const seconds = spec.leaseDurationSeconds;
  const short = typeof seconds === 'number' && seconds <= 0;
  return [
    ...(short ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')] : []),
    ...nonNegative('spec.leaseTransitions', spec.leaseTransitions),
  ];
}

export function validateClaim(next: KubeObject, old: KubeObject | undefined, subresource?: string): Cause[] {
  if (subresource === 'status') return [];
  const spec = objectAt(next, 'spec');
  const storage = objectAt(objectAt(spec, 'resources'), 'requests').storage;
  const causes: Cause[] = [];
  if (isEmptyList(spec.accessModes)) causes.push(required('spec.accessModes', 'at least 1 access mode is required'));
  const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
  const given = Array.isArray(spec.accessModes) ? spec.accessModes : [];
  causes.push(...given.flatMap((mode) => oneOf('spec.accessModes', mode, modes)));
  if (storage === undefined) causes.push(required('spec.resources[storage]'));
  if (old === undefined) return causes;
  const before = objectAt(old, 'spec');
  const { resources: _new, ...fixed } = spec;
  const { resources: _old, ...fixedBefore } = before;
  if (jsonEquals(fixed, fixedBefore)) return causes;
  const why =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [...causes, forbiddenField('spec', why)];
}

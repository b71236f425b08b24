import { expect, test } from 'vitest';
import { applySetId, labelValue } from '../labels.ts';
import { extentOf, extentOfMembers, parentId, parentObject, sameExtent, union } from './applyset.ts';

const members = [
  { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'b', name: 'x' },
  { apiVersion: 'v1', kind: 'Service', namespace: 'a', name: 'y' },
  { apiVersion: 'v1', kind: 'Namespace', name: 'b' },
  { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'home', name: 'z' },
];

test('the id follows KEP-3659: base64url of the SHA-256 of name.namespace.kind.group', () => {
  // printf 'skep-prod.default.ConfigMap.' | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '='
  expect(applySetId('prod', 'default')).toBe('applyset-WH5vfJ_WmmWxP5GPFvtzmrCiDzXXSelwnjN_SEZRVIw-v1');
  expect(applySetId('prod', 'default')).not.toBe(applySetId('prod', 'other'));
});

test('the extent of a parent is the extent with which it was created', () => {
  const extent = extentOfMembers(members, 'home');
  const parent = parentObject(parentId('prod', 'home'), 'applyset-x-v1', extent, 'skep/1');
  expect(parent.metadata.annotations).toEqual({
    'applyset.kubernetes.io/tooling': 'skep/1',
    'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap,Deployment.apps,Namespace,Service',
    'applyset.kubernetes.io/additional-namespaces': 'a,b',
  });
  expect(sameExtent(extentOf(parent), extent)).toBe(true);
});

test('a union contains the kinds of both extents', () => {
  const before = extentOfMembers(members.slice(0, 1), 'home');
  const after = extentOfMembers(members.slice(1, 2), 'home');
  expect([...union(before, after).groupKinds].sort()).toEqual(['Deployment.apps', 'Service']);
  expect(sameExtent(union(before, after), before)).toBe(false);
});

test('a label value that is too long keeps its start and stays unique', () => {
  const long = 'x'.repeat(80);
  expect(labelValue('short')).toBe('short');
  expect(labelValue(long)).toHaveLength(63);
  expect(labelValue(long)).not.toBe(labelValue(`${long}y`));
});

// Tests the limits that `allow` sets for a source.

import { expect, test } from 'vitest';
import { limitsOf } from './limits.ts';

const IDS = {
  server: { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'team-a', name: 'x' },
  deployment: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'team-b', name: 'x' },
  secret: { apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system', name: 'x' },
  namespace: { apiVersion: 'v1', kind: 'Namespace', name: 'team-a' },
  role: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'team-a' },
} as const;

test.each([
  { reason: 'everything is the default', allow: {}, refused: [] },
  {
    reason: 'a pattern of namespaces leaves out objects without a namespace, except for the Namespace itself',
    allow: { namespaces: ['team-*'] },
    refused: ['secret', 'role'],
  },
  { reason: 'a name', allow: { namespaces: ['team-b'] }, refused: ['server', 'secret', 'namespace', 'role'] },
  { reason: 'no namespace at all', allow: { namespaces: [] }, refused: Object.keys(IDS) },
  { reason: 'a kind', allow: { kinds: ['Secret', 'MCP*'] }, refused: ['deployment', 'namespace', 'role'] },
  {
    reason: 'a kind and its group',
    allow: { kinds: ['Deployment.apps', 'Secret.apps', 'Namespace.'] },
    refused: ['server', 'secret', 'role'],
  },
  {
    reason: 'a group',
    allow: { kinds: ['*.toolhive.stacklok.dev'] },
    refused: ['deployment', 'secret', 'namespace', 'role'],
  },
  {
    reason: 'both must fit',
    allow: { namespaces: ['team-a'], kinds: ['MCPServer'] },
    refused: ['deployment', 'secret', 'namespace', 'role'],
  },
])('$reason', ({ allow, refused }) => {
  const limits = limitsOf({ namespaces: ['*'], kinds: ['*'], ...allow });
  const names = Object.entries(IDS).filter(([, id]) => limits.refusal(id) !== undefined);
  expect(names.map(([name]) => name)).toEqual(refused);
});

test('a Failure names a malformed pattern', () => {
  expect(() => limitsOf({ namespaces: ['team-{a'], kinds: ['*'] })).toThrow(
    'allow.namespaces: "team-{a" is not a pattern',
  );
});

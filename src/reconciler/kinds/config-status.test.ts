// Tests the status of kinds that only contain settings.

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { configStatus } from './config-status.ts';
import type { Finding, View } from './kind.ts';

const NOW = '2026-11-21T12:00:00Z';
const REFUSAL: Finding = {
  code: 'reference-missing',
  severity: 'error',
  pointer: '/spec/bearerToken/tokenSecretRef',
  message: 'no Secret "crm" in namespace agents',
};

function viewOf(objects: readonly KubeObject[]): View {
  return {
    find: () => undefined,
    all: (kind) => objects.filter((object) => object.kind === kind),
  };
}

function user(kind: string, name: string, spec: JsonObject): KubeObject {
  return { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind, metadata: { name, namespace: 'agents' }, spec };
}

interface Given {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly refusals?: readonly Finding[];
  readonly users?: readonly KubeObject[];
}

function statusOf({ spec = { type: 'unauthenticated' }, status = {}, refusals = [], users = [] }: Given) {
  const resource = {
    ...user('MCPExternalAuthConfig', 'access', spec),
    metadata: { name: 'access', namespace: 'agents', generation: 3 },
    spec,
    status,
  };
  const observed = { view: viewOf(users), refusals, failures: [], now: NOW };
  return configStatus({ name: 'access', spec, resource }, 'externalAuthConfigRef', observed);
}

describe('the digest', () => {
  it('changes if the settings change, and only then', () => {
    const { configHash } = statusOf({});
    expect(configHash).toMatch(/^[0-9a-f]{16}$/);
    expect(statusOf({ status: { configHash: 'older' } }).configHash).toBe(configHash);
    expect(statusOf({ spec: { type: 'bearerToken' } }).configHash).not.toBe(configHash);
  });

  it('stays while new settings are invalid, because the old settings are in use', () => {
    expect(statusOf({ status: { configHash: 'older' }, refusals: [REFUSAL] }).configHash).toBe('older');
  });

  it('exists even if the settings were never valid', () => {
    expect(statusOf({ refusals: [REFUSAL] }).configHash).toBe(statusOf({}).configHash);
  });
});

it('says why the settings cannot be used', () => {
  const { conditions, observedGeneration } = statusOf({ refusals: [REFUSAL] });
  expect(observedGeneration).toBe(3);
  expect(conditions).toMatchObject([
    { type: 'Valid', status: 'False', reason: 'ValidationFailed', message: 'no Secret "crm" in namespace agents' },
    { type: 'Ready', status: 'False', observedGeneration: 3, lastTransitionTime: NOW },
  ]);
});

it.each([
  { reason: 'a server, by its name', kind: 'MCPServer', expected: ['user'] },
  { reason: 'a proxy, by kind and name', kind: 'MCPRemoteProxy', expected: ['MCPRemoteProxy/user'] },
  { reason: 'a kind that cannot use settings', kind: 'MCPGroup', expected: [] },
])('lists $reason', ({ kind, expected }) => {
  const users = [user(kind, 'user', { externalAuthConfigRef: { name: 'access' } })];
  expect(statusOf({ users }).referencingServers).toEqual(expected);
});

it.each([
  {
    reason: 'of a backend',
    spec: { outgoingAuth: { backends: { a: { externalAuthConfigRef: { name: 'access' } } } } },
  },
  { reason: 'by default', spec: { outgoingAuth: { default: { externalAuthConfigRef: { name: 'access' } } } } },
  { reason: 'in a list', spec: { config: { tools: [{ externalAuthConfigRef: { name: 'access' } }] } } },
])('finds the settings $reason of a virtual server', ({ spec }) => {
  expect(statusOf({ users: [user('VirtualMCPServer', 'all', spec)] }).referencingServers).toEqual([
    'VirtualMCPServer/all',
  ]);
});

it('ignores resources that name other settings', () => {
  const users = [
    user('MCPServer', 'a', { externalAuthConfigRef: { name: 'other' } }),
    user('MCPServer', 'b', { toolConfigRef: { name: 'access' } }),
  ];
  expect(statusOf({ users }).referencingServers).toEqual([]);
});

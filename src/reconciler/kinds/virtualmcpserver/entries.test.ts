// Tests that a running process never sends a secret to a URL for which the secret was not meant. The process keeps its
// environment variables, but reads the list of backends again.

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import type { View } from '../kind.ts';
import { backendsOf, callable } from './backends.ts';

const SPEC: Parameters<typeof backendsOf>[0] = {
  serviceType: 'ClusterIP',
  sessionAffinity: 'ClientIP',
  incomingAuth: { type: 'anonymous' },
  config: {
    groupRef: 'g',
    operational: {
      timeouts: { default: '1s' },
      failureHandling: {
        healthCheckInterval: '1s',
        healthCheckTimeout: '1s',
        statusReportingInterval: '1s',
        unhealthyThreshold: 1,
        partialFailureMode: 'fail',
        circuitBreaker: { enabled: false, failureThreshold: 1, timeout: '1s' },
      },
    },
    aggregation: {
      conflictResolution: 'prefix',
      conflictResolutionConfig: { prefixFormat: '{workload}_' },
      excludeAllTools: false,
    },
  },
};

const HEADERS = [
  { headerName: 'X-One', valueSecretRef: { name: 'a', key: 'one' } },
  { headerName: 'X-Two', valueSecretRef: { name: 'a', key: 'two' } },
];
const ENTRY = {
  remoteUrl: 'https://a.example/mcp',
  headerForward: { addHeadersFromSecret: HEADERS },
  externalAuthConfigRef: { name: 'access' },
};
const ACCESS = { type: 'bearerToken', bearerToken: { tokenSecretRef: { name: 'a', key: 'token' } } };
const B = [{ headerName: 'X-One', valueSecretRef: { name: 'b', key: 'one' } }];

describe('variables with secret values of an entry', () => {
  const before = variables(ENTRY, ACCESS);

  it('have the same names for equal settings, in any order', () => {
    const reordered = { ...ENTRY, headerForward: { addHeadersFromSecret: HEADERS.toReversed() } };
    expect(before.size).toBe(3);
    expect(variables(reordered, ACCESS)).toEqual(before);
  });

  it.each([
    { what: 'another URL', entry: { ...ENTRY, remoteUrl: 'https://b.example/mcp' }, access: ACCESS },
    {
      what: 'other Secrets',
      entry: { ...ENTRY, headerForward: { addHeadersFromSecret: B } },
      access: { type: 'bearerToken', bearerToken: { tokenSecretRef: { name: 'b', key: 'token' } } },
    },
    {
      what: 'another header injected',
      entry: { remoteUrl: 'https://b.example/mcp', externalAuthConfigRef: { name: 'access' } },
      access: {
        type: 'headerInjection',
        headerInjection: { headerName: 'X-Key', valueSecretRef: { name: 'b', key: 'token' } },
      },
    },
  ])('have other names for $what', ({ entry, access }) => {
    const after = variables(entry, access);
    expect(after.size).toBeGreaterThan(0);
    expect([...after.keys()].filter((name) => before.has(name))).toEqual([]);
  });
});

/** Returns the keys of Secrets by the names of the variables. */
function variables(entry: JsonObject, access: JsonObject): ReadonlyMap<string, string> {
  const spec = { groupRef: { name: 'g' }, transport: 'sse', allowPrivateEndpoint: false, ...entry };
  const keys = { one: 'MQ==', two: 'Mg==', token: 'Mw==' };
  const view = viewOf([
    { ...object('MCPServerEntry', 'almanac'), spec },
    object('MCPGroup', 'g'),
    { ...object('MCPExternalAuthConfig', 'access'), spec: access },
    ...['a', 'b'].map((name) => ({ ...object('Secret', name), data: keys })),
  ]);
  return new Map(
    callable(backendsOf(SPEC, view)).env.map((variable) => {
      return [variable.name, 'secret' in variable ? `${variable.secret?.name}/${variable.secret?.key}` : ''];
    }),
  );
}

function object(kind: string, name: string): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'n' } };
}

function viewOf(objects: readonly KubeObject[]): View {
  return {
    find: (kind, name) => objects.find((each) => each.kind === kind && each.metadata.name === name),
    all: (kind) => objects.filter((each) => each.kind === kind),
  };
}

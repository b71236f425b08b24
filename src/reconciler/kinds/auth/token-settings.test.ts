// Tests that a reference to missing settings is never treated as "no settings": without settings for tokens, anyone may
// call the resource.

import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { Kind, KindSettings, Resource, View } from '../kind.ts';
import { MCPRemoteProxy } from '../mcpremoteproxy/index.ts';
import { MCPServer } from '../mcpserver/index.ts';
import { VirtualMCPServer } from '../virtualmcpserver/index.ts';

const NOTHING: View = { find: () => undefined, all: () => [] };
const EMPTY: View = {
  ...NOTHING,
  find: (kind, name) => ({ apiVersion: 'toolhive.stacklok.dev/v1beta1', kind, metadata: { name }, spec: {} }),
};
const SETTINGS: KindSettings = {
  apiGroup: 'toolhive.stacklok.dev',
  images: { proxy: 'example.com/a:1', vmcp: 'example.com/a:1', registry: 'example.com/a:1' },
  pullSecrets: [],
  digest: (text) => text,
};

const oidcConfigRef = { name: 'company', audience: 'a' };
const proxy = { proxyPort: 8080, port: 8080, trustProxyHeaders: false, sessionAffinity: 'ClientIP', oidcConfigRef };
const CASES = [
  { kind: MCPServer, spec: { ...proxy, image: 'example.com/a:1', transport: 'sse', proxyMode: 'streamable-http' } },
  { kind: MCPRemoteProxy, spec: { ...proxy, remoteURL: 'https://a.example', transport: 'sse' } },
  {
    kind: VirtualMCPServer,
    spec: {
      incomingAuth: { type: 'oidc', oidcConfigRef },
      config: {
        groupRef: 'g',
        operational: { timeouts: {} },
        aggregation: { conflictResolution: 'prefix', conflictResolutionConfig: {} },
      },
    },
  },
];

/** Resources that a CEL rule refuses, but that may have been stored before the rule existed. */
const WITHOUT_SETTINGS = CASES.filter(({ kind }) => kind !== MCPServer).map(({ kind, spec }) => {
  const { oidcConfigRef: _ref, ...rest } = { incomingAuth: undefined, oidcConfigRef, ...spec };
  return { kind, spec: kind === VirtualMCPServer ? { ...rest, incomingAuth: { type: 'oidc' } } : rest };
});

describe.each(WITHOUT_SETTINGS)(
  '$kind.kind that must require tokens, without settings for tokens',
  ({ kind, spec }) => {
    const resource = resourceOf(kind, spec);

    it('is not open to everyone, is refused, and has no children', () => {
      expect(kind.exposes(resource, NOTHING).map(({ auth }) => auth)).toEqual([{ type: 'unknown' }]);
      expect(kind.acceptsAccounts(resource, NOTHING)).toBe(false);
      const refusals = kind.inspect(resource, NOTHING).filter(({ severity }) => severity === 'error');
      expect(refusals.map(({ code }) => code)).toEqual(['oidc-config-invalid']);
      expect(() => kind.children(resource, NOTHING, SETTINGS)).toThrow(AssertionError);
    });
  },
);

describe.each(CASES)('$kind.kind', ({ kind, spec }) => {
  const resource = resourceOf(kind, spec);

  it.each([
    { reason: 'the settings do not exist', view: NOTHING },
    { reason: 'the settings are empty', view: EMPTY },
  ])('is not open to everyone if $reason, and has no children', ({ view }) => {
    expect(kind.exposes(resource, view).map(({ auth }) => auth)).toEqual([{ type: 'unknown' }]);
    expect(kind.acceptsAccounts(resource, view)).toBe(false);
    expect(() => kind.children(resource, view, SETTINGS)).toThrow(AssertionError);
  });
});

function resourceOf({ kind }: Kind, spec: Resource['spec']): Resource {
  return { apiVersion: 'toolhive.stacklok.dev/v1beta1', kind, metadata: { name: 'a', namespace: 'n' }, spec };
}

// A name that leads to no settings is never read as "no settings": without settings for tokens, anyone may call.

import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { Resource, Settings, View } from '../kind.ts';
import { MCPRemoteProxy } from '../mcpremoteproxy/index.ts';
import { MCPServer } from '../mcpserver/index.ts';
import { VirtualMCPServer } from '../virtualmcpserver/index.ts';

const NOTHING: View = { find: () => undefined, all: () => [] };
const EMPTY: View = {
  ...NOTHING,
  find: (kind, name) => ({ apiVersion: 'toolhive.stacklok.dev/v1beta1', kind, metadata: { name }, spec: {} }),
};
const SETTINGS: Settings = {
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
      config: { groupRef: 'g', aggregation: { conflictResolution: 'prefix', conflictResolutionConfig: {} } },
    },
  },
];

describe.each(CASES)('$kind.kind', ({ kind, spec }) => {
  const resource: Resource = {
    apiVersion: 'toolhive.stacklok.dev/v1beta1',
    kind: kind.kind,
    metadata: { name: 'a', namespace: 'n' },
    spec,
  };

  it.each([
    { reason: 'the settings do not exist', view: NOTHING },
    { reason: 'the settings are empty', view: EMPTY },
  ])('is not open if $reason, and nothing is made of it', ({ view }) => {
    expect(kind.exposes(resource, view).map(({ auth }) => auth)).toEqual([{ type: 'unknown' }]);
    expect(kind.acceptsAccounts(resource, view)).toBe(false);
    expect(() => kind.children(resource, view, SETTINGS)).toThrow(AssertionError);
  });
});

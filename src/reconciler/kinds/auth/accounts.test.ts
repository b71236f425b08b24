// Tests which service accounts' tokens a resource accepts: the settings of its proxy, and its status about the
// cluster's issuer.

import { describe, expect, it } from 'vitest';
import { isObject } from '#std/json.ts';
import type { Observed, Resource, TokenIssuer, View } from '../kind.ts';
import { MCPRemoteProxy } from '../mcpremoteproxy/index.ts';
import { MCPServer } from '../mcpserver/index.ts';
import { VirtualMCPServer } from '../virtualmcpserver/index.ts';
import { resolveOIDC } from './oidc-settings.ts';

const VIEW: View = { find: () => undefined, all: () => [] };
const DEFAULT = 'https://kubernetes.default.svc';
const KUBEADM = 'https://kubernetes.default.svc.cluster.local';

function settingsOf(kubernetes: object) {
  const oidcConfig = {
    type: 'kubernetes',
    kubernetes: { useClusterAuth: true, audience: 'a', ...kubernetes },
  } as const;
  const source = { oidcConfig } as Parameters<typeof resolveOIDC>[0];
  const resolved = resolveOIDC(source, VIEW, { namespace: 'n', origin: 'https://mcp.example' });
  if (resolved === undefined || 'findings' in resolved) throw new Error('the settings are invalid');
  return resolved.settings;
}

describe('the issuer that the API server names is accepted', () => {
  it.each([
    { reason: 'none is written', kubernetes: {}, isApiServer: true },
    { reason: 'it is the default', kubernetes: { issuer: DEFAULT }, isApiServer: true },
    { reason: 'another one is written', kubernetes: { issuer: KUBEADM }, isApiServer: undefined },
    { reason: 'the keys are elsewhere', kubernetes: { jwksUrl: 'https://keys.example' }, isApiServer: undefined },
    { reason: 'the CA of the cluster is not used', kubernetes: { useClusterAuth: false }, isApiServer: undefined },
  ])('$isApiServer if $reason', ({ kubernetes, isApiServer }) => {
    expect(settingsOf(kubernetes).issuer_is_api_server).toBe(isApiServer);
  });
});

const server = { image: 'example.com/a:1', transport: 'streamable-http', proxyMode: 'streamable-http' };
const KINDS = [
  { kind: MCPServer, spec: (oidcConfig: object) => ({ ...server, oidcConfig }) },
  {
    kind: MCPRemoteProxy,
    spec: (oidcConfig: object) => ({ remoteURL: 'https://a.example', transport: 'sse', oidcConfig }),
  },
  {
    kind: VirtualMCPServer,
    spec: (oidcConfig: object) => ({ config: { groupRef: 'g' }, incomingAuth: { type: 'oidc', oidcConfig } }),
  },
];

function resourceOf({ kind, spec }: (typeof KINDS)[number], oidc: object): Resource {
  const metadata = { name: 'a', namespace: 'n', generation: 1 };
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: kind.kind,
    metadata,
    spec: spec(oidc) as Resource['spec'],
  };
}

function conditionsOf(kind: (typeof KINDS)[number], oidc: object, tokenIssuer: TokenIssuer | undefined) {
  const observed: Observed = { view: VIEW, refusals: [], failures: [], tokenIssuer, now: '2026-11-21T12:00:00Z' };
  const { conditions } = kind.kind.status(resourceOf(kind, oidc), observed);
  const found = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return found
    .filter(({ type }) => type === 'ServiceAccountTokensAccepted')
    .map(({ status, reason, message }) => ({ status, reason, message }));
}

const ofCluster = (kubernetes: object = {}) => ({
  type: 'kubernetes',
  kubernetes: { useClusterAuth: true, ...kubernetes },
});

describe.each(KINDS)('the status of $kind.kind', (kind) => {
  it("says that tokens of the cluster's issuer are accepted", () => {
    expect(conditionsOf(kind, ofCluster(), { issuer: KUBEADM })).toEqual([
      { status: 'True', reason: 'ClusterIssuerAccepted', message: `tokens of the issuer ${KUBEADM} are accepted` },
    ]);
    expect(conditionsOf(kind, ofCluster({ issuer: KUBEADM }), { issuer: KUBEADM })).toMatchObject([{ status: 'True' }]);
  });

  it('says that tokens of the cluster are refused if the manifest names another issuer', () => {
    expect(conditionsOf(kind, ofCluster({ issuer: 'https://other.example' }), { issuer: KUBEADM })).toEqual([
      {
        status: 'False',
        reason: 'ClusterIssuerDiffers',
        message: `tokens of this cluster have the issuer ${KUBEADM}, but only tokens of https://other.example are accepted. Leave issuer and jwksUrl out to accept tokens of this cluster.`,
      },
    ]);
  });

  it('says why no token can be verified, and which right is missing', () => {
    const fault = 'https://api/.well-known/openid-configuration: forbidden';
    const [condition] = conditionsOf(kind, ofCluster(), { fault });
    expect(condition).toMatchObject({ status: 'False', reason: 'ClusterIssuerUnknown' });
    expect(condition?.message).toContain(`${fault}. Let accounts read it and /openid/v1/jwks: bind ClusterRole`);
  });

  it('does not mention settings for other tokens, and requests no issuer', () => {
    const inline = { type: 'inline', inline: { issuer: 'https://idp.example', audience: 'a' } };
    expect(conditionsOf(kind, inline, { issuer: KUBEADM })).toEqual([]);
    expect(kind.kind.acceptsAccounts(resourceOf(kind, inline), VIEW)).toBe(false);
    expect(kind.kind.acceptsAccounts(resourceOf(kind, ofCluster()), VIEW)).toBe(true);
  });
});

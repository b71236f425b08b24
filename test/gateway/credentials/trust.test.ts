// Tests which settings make a proxy and a virtual server trust a token endpoint with a certificate of a private
// authority.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Credential } from '#gateway/credentials/credential.ts';
import { credentialOf } from '#gateway/credentials/of-config.ts';
import { credentialOfStrategy, strategyAt } from '#gateway/credentials/of-strategy.ts';
import { createPrivateAuthority, type PrivateAuthority } from '../../harness/private-authority.ts';
import { configOf } from '../virtual-server/world.ts';
import { type Endpoint, sendJson, startEndpoint } from './endpoint.ts';
import { outgoing, startWorld, type World } from './world.ts';

const TYPE = 'urn:ietf:params:oauth:token-type:access_token';
let authority: PrivateAuthority;
let endpoint: Endpoint;
let world: World;

beforeAll(async () => {
  authority = createPrivateAuthority('identity provider');
  endpoint = await startEndpoint((_asked, response) => {
    sendJson(response, 200, { access_token: 'new', issued_token_type: TYPE, token_type: 'Bearer', expires_in: 300 });
  }, authority);
  world = startWorld();
});
afterAll(async () => {
  await Promise.all([endpoint?.close(), world?.close()]);
  authority?.remove();
});

/** `own` is the CA bundle of the token exchange. `issuers` has the CA bundle of the accepted tokens' issuer. */
interface Trust {
  readonly own?: string;
  readonly issuers?: { readonly bundle: string; readonly issuer: string; readonly keys?: string };
}

const OIDC = { audience: 'a', resource: 'https://mcp.example.com/mcp', scopes: ['openid'] };

function ofProxy({ own, issuers }: Trust): Credential {
  const oidc_config: RunConfig['oidc_config'] = issuers && {
    ...{ issuer: issuers.issuer, jwks_url: issuers.keys, ca_bundle_path: issuers.bundle },
    ...{ audience: OIDC.audience, resource_url: OIDC.resource, scopes: OIDC.scopes },
    ...{ jwks_allow_private_ip: true, protected_resource_allow_private_ip: true, insecure_allow_http: false },
  };
  const config: RunConfig = {
    ...{ schema_version: 'v0.1.0', name: 'weather', namespace: 'agents', host: '127.0.0.1', port: 8080 },
    ...{ transport: 'streamable-http', proxy_mode: 'streamable-http', trust_proxy_headers: false },
    audit_config: { enabled: false, component: 'weather' },
    oidc_config,
    token_exchange_config: {
      ...{ token_url: `${endpoint.url}/token`, ca_bundle_path: own, audience: 'b' },
      ...{ subject_token_type: TYPE, header_strategy: 'replace' },
    },
  };
  return credentialOf(config, world.ports);
}

function ofVirtualServer({ own, issuers }: Trust): Credential {
  const incomingAuth: VmcpConfig['incomingAuth'] = {
    type: issuers === undefined ? 'anonymous' : 'oidc',
    oidc: issuers && {
      ...OIDC,
      ...{ issuer: issuers.issuer, jwksUrl: issuers.keys, caBundlePath: issuers.bundle },
      ...{ jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: true, insecureAllowHttp: false },
    },
    authz: { type: 'none' },
  };
  const place = { tokenUrl: `${endpoint.url}/token`, caBundlePath: own } as const;
  const tokenExchange = { ...place, audience: 'b', subjectTokenType: TYPE } as const;
  const backends = { weather: { type: 'token_exchange', tokenExchange } } as const;
  const config = { ...configOf({ weather: { url: 'http://one' } }), incomingAuth };
  const strategy = strategyAt({ ...config, outgoingAuth: { source: 'inline', backends } }, 'weather');
  return credentialOfStrategy(strategy, '/weather', world.ports);
}

describe.each([
  { host: 'a proxy', credentialOf: ofProxy },
  { host: 'a virtual server', credentialOf: ofVirtualServer },
])('$host', ({ credentialOf: open }) => {
  const elsewhere = 'https://127.0.0.1:1';
  test.each<{ reason: string; trust: () => Trust; ok: boolean }>([
    { reason: 'no bundle is named', trust: () => ({}), ok: false },
    { reason: 'the exchange names it', trust: () => ({ own: authority.file }), ok: true },
    {
      reason: 'the issuer of the callers has the same origin',
      trust: () => ({ issuers: { bundle: authority.file, issuer: `${endpoint.url}/realms/a` } }),
      ok: true,
    },
    {
      reason: 'its keys have the same origin',
      trust: () => ({ issuers: { bundle: authority.file, issuer: elsewhere, keys: `${endpoint.url}/keys` } }),
      ok: true,
    },
    {
      reason: 'the issuer of the callers has another port',
      trust: () => ({ issuers: { bundle: authority.file, issuer: elsewhere } }),
      ok: false,
    },
    { reason: 'the file of the bundle is missing', trust: () => ({ own: '/nonexistent/ca.crt' }), ok: false },
  ])('trusts the endpoint: $ok, if $reason', async ({ trust, ok }) => {
    const given = await open(trust())(outgoing(), { key: 'ada', token: 'callers', claims: {} });
    expect(given.ok).toBe(ok);
    if (!given.ok) expect(given.refusal).toMatchObject({ status: 503, code: 'exchange-unavailable' });
  });
});

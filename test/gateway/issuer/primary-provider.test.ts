// Tests policies that read the token of an upstream provider (primaryUpstreamProvider), in a proxy and in a virtual
// server. Without this token, every call is denied.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { exchangeIn, requestOf } from '#gateway/backends/relay/backend.ts';
import { claimsOf } from '#gateway/proxy/admit.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { stopAll } from '../proxy/rig.ts';
import { startMember, type TestMember, tool } from '../virtual-server/member.ts';
import { configOf, connect, runVirtual, type TestedVirtualServer } from '../virtual-server/world.ts';
import { oauth2To } from './direct.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { type AuthServer, callMcp, type LoginWorld, logIn, openLoginWorld } from './world.ts';

const POLICIES = [
  'permit(principal, action == Action::"call_tool", resource) when { context has claim_dept && context.claim_dept == "weather" };',
  'permit(principal in THVGroup::"staff", action == Action::"call_tool", resource);',
];
let provider: RecordingProvider;
const folder = mkdtempSync(join(tmpdir(), 'skep-primary-'));

beforeAll(async () => {
  provider = await startRecordingProvider();
});
beforeEach(() => {
  provider.answers = {};
});
afterAll(async () => {
  await stopAll();
  await provider.close();
});

let files = 0;
function policyFile(more: object = {}): string {
  files += 1;
  const path = join(folder, `authz-${files}.json`);
  writeFileSync(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: POLICIES, ...more } }));
  return path;
}

/** Makes the provider issue access tokens that are JWTs with these claims, or this text. */
async function giveTokens(claims: object | string): Promise<void> {
  const token = typeof claims === 'string' ? claims : await provider.sign({ sub: 'u-1', ...claims });
  provider.answers = { '/token': (answer) => ({ ...answer, access_token: token }) };
}

function openWorld(
  cedar: object,
  auth: Partial<AuthServer> = {},
  config: Partial<RunConfig> = {},
): Promise<LoginWorld> {
  return openLoginWorld({
    config: { authz_config_path: policyFile(cedar), ...config },
    auth,
    upstreams: (issuer) => [oauth2To(issuer, provider)],
  });
}

async function statusOf(world: LoginWorld): Promise<number> {
  return (await callMcp(world, (await logIn(world)).tokens.access_token)).status;
}

describe('in a proxy', () => {
  it.each<[string, object, Partial<AuthServer>]>([
    ['next to the policies', { primary_upstream_provider: 'code-host' }, {}],
    ['in the settings of the authorization server', {}, { primary_upstream_provider: 'code-host' }],
    ['at both', { primary_upstream_provider: 'code-host' }, { primary_upstream_provider: 'code-host' }],
  ])('claims and groups of the provider that is named %s decide', async (_place, cedar, auth) => {
    const world = await openWorld(cedar, auth);
    await giveTokens({ dept: 'weather' });
    expect(await statusOf(world)).toBe(200);
    await giveTokens({ dept: 'sales' });
    expect(await statusOf(world)).toBe(403);
    await giveTokens({ groups: ['staff'] });
    expect(await statusOf(world)).toBe(200);
    await giveTokens({});
    expect(await statusOf(world)).toBe(403);
  });

  it('claims of the own token decide if no provider is configured', async () => {
    const world = await openWorld({});
    await giveTokens({ dept: 'weather', groups: ['staff'] });
    expect(await statusOf(world)).toBe(403);
  });

  it.each<[string, () => Promise<object | string>]>([
    ['is not a JWT', async () => 'opaque-token'],
    ['has no subject', async () => ({ sub: undefined, dept: 'weather' })],
  ])('everything is denied if the token %s', async (_what, token) => {
    const world = await openWorld({
      policies: ['permit(principal, action, resource);'],
      primary_upstream_provider: 'code-host',
    });
    await giveTokens(await token());
    expect(await statusOf(world)).toBe(403);
  });

  it('the log reports once that tokens of the provider are unreadable', async () => {
    const world = await openWorld({ primary_upstream_provider: 'code-host' });
    await giveTokens('opaque-token');
    await statusOf(world);
    await statusOf(world);
    await world.proxy.log.until(/"code":"issuer-upstream-opaque"/);
    expect(world.proxy.log.text().split('issuer-upstream-opaque').length).toBe(2);
  });

  it('a login without a token of the provider has ended', async () => {
    const world = await openWorld(
      { primary_upstream_provider: 'code-host' },
      { disable_upstream_token_injection: true },
    );
    await giveTokens({ dept: 'weather' });
    const { client, tokens } = await logIn(world);
    expect((await callMcp(world, tokens.access_token)).status).toBe(200);
    await fetch(`${world.issuer}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client, token: tokens.refresh_token ?? '' }),
    });
    expect((await callMcp(world, tokens.access_token)).status).toBe(401);
  });

  it.each<[string, object, Partial<AuthServer>, Partial<RunConfig>]>([
    ['the provider is unknown', { primary_upstream_provider: 'company' }, {}, {}],
    [
      'two providers are configured',
      { primary_upstream_provider: 'code-host' },
      { primary_upstream_provider: 'other' },
      {},
    ],
    [
      'there is no authorization server',
      { primary_upstream_provider: 'code-host' },
      {},
      { embedded_auth_server_config: undefined },
    ],
  ])('the proxy does not start if %s', async (_what, cedar, auth, config) => {
    await expect(openWorld(cedar, auth, config)).rejects.toMatchObject({ code: 'policy-file-invalid' });
  });
});

describe('a caller', () => {
  const token = { token: 'x', claims: { sub: 'ada' } };
  const upstream = { provider: 'code-host', claims: { sub: 'u-1' } };

  it('is unknown if the token for policies is missing or belongs to another provider', () => {
    const policies = { upstreamProvider: 'code-host' };
    expect(claimsOf({ ...token, upstream }, policies)).toEqual({ sub: 'u-1' });
    expect(claimsOf(token, policies)).toEqual({});
    expect(claimsOf({ ...token, upstream: { ...upstream, provider: 'other' } }, policies)).toEqual({});
    expect(claimsOf({ ...token, upstream }, { upstreamProvider: undefined })).toEqual({ sub: 'ada' });
  });

  it('has the same identity at another replica', () => {
    const identity = { ...token, upstream };
    const exchange = { method: 'POST', era: 'session', path: '/', headers: {}, caller: 'ada', identity } as const;
    expect(exchangeIn(requestOf(exchange))?.identity).toEqual(identity);
  });
});

describe('in a virtual server', () => {
  let member: TestMember;
  let virtual: TestedVirtualServer;
  let world: { readonly issuer: string; readonly resource: string };

  beforeAll(async () => {
    member = await startMember({ tools: [tool('echo')] });
    const port = await freePort();
    world = { issuer: `http://127.0.0.1:${port}`, resource: `http://127.0.0.1:${port}/mcp` };
    virtual = await runVirtual(
      configOf(
        { member },
        {
          incomingAuth: {
            type: 'oidc',
            oidc: {
              ...{ issuer: world.issuer, audience: world.resource, resource: world.resource, scopes: ['openid'] },
              ...{ insecureAllowHttp: true, jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: false },
            },
            authz: { type: 'cedar', policies: POLICIES, primaryUpstreamProvider: 'code-host' },
          },
          authServer: {
            schema_version: 'v0.1.0',
            issuer: world.issuer,
            token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
            upstreams: [oauth2To(world.issuer, provider)],
            scopes_supported: ['openid'],
            allowed_audiences: [world.resource],
            storage: { type: 'memory' },
          },
          compositeTools: [
            {
              name: 'twice',
              description: 'Calls echo.',
              parameters: { type: 'object' },
              timeout: '30s',
              steps: [{ id: 'one', type: 'tool', tool: 'member.echo', arguments: {} }],
            },
          ],
        },
      ),
      {},
      undefined,
      port,
    );
  });
  afterAll(async () => {
    await virtual.stop();
    await member.close();
  });

  async function callAs(claims: object | string, name: string): Promise<string> {
    await giveTokens(claims);
    const token = (await logIn(world)).tokens.access_token;
    const client = await connect(virtual, {}, { authorization: `Bearer ${token}` });
    const tools = JSON.stringify(await client.ask('tools/list')).includes(`"${name}"`) ? 'listed' : 'hidden';
    const called = await client.ask('tools/call', { name, arguments: {} });
    const isError = called.error !== undefined || called.isError === true;
    return `${tools}, ${isError ? 'denied' : 'called'}`;
  }

  it('claims of the provider decide lists, calls and calls of workflows', async () => {
    expect(await callAs({ dept: 'weather' }, 'member_echo')).toBe('listed, called');
    expect(await callAs({ dept: 'sales' }, 'member_echo')).toBe('hidden, denied');
    expect(await callAs('opaque-token', 'member_echo')).toBe('hidden, denied');
    expect(await callAs({ groups: ['staff'] }, 'twice')).toBe('listed, called');
  });
});

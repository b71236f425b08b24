// Tests step-up (MCP 2025-11-25, Authorization, Scope Challenge Handling) in a proxy and in a virtual server: a call
// that needs more scopes gets a 403 with these scopes, and official clients then log in again.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as second from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { LoginProvider } from '../../harness/login-provider.ts';
import { UPSTREAM_CLIENT } from '../../harness/login-provider.ts';
import { type Log, stopAll } from '../proxy/rig.ts';
import { startMember, type TestMember, tool } from '../virtual-server/member.ts';
import { configOf, runVirtual, type TestedVirtualServer } from '../virtual-server/world.ts';
import { clientProvider, type KeptLogin, newKeptLogin } from './kept-login.ts';
import { newPerson } from './person.ts';
import { type Answer, callMcp, logIn, oidcUpstream, openLoginWorld, refresh, tokensOf } from './world.ts';

const SCOPES = ['openid', 'weather', 'storm'];
const policies = (name: string) => [
  `permit(principal, action, resource == Tool::"${name}") when { context.claim_scope like "*weather*" };`,
];

interface Guarded {
  readonly issuer: string;
  readonly resource: string;
  /** Name of the tool that requires the scope `weather`. */
  readonly tool: string;
}

let proxyLog: Log;
let provider: LoginProvider;
let member: TestMember;
let virtual: TestedVirtualServer;
const guarded: Record<string, Guarded> = {};

beforeAll(async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'skep-step-up-')), 'authz.json');
  writeFileSync(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: policies('echo') } }));
  const world = await openLoginWorld({
    config: { authz_config_path: file },
    auth: { scopes_supported: SCOPES },
    scopes: SCOPES,
  });
  ({ provider } = world);
  proxyLog = world.proxy.log;
  guarded.proxy = { ...world, tool: 'echo' };
  member = await startMember({ tools: [tool('echo')] });
  const port = await freePort();
  const [issuer, resource] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/mcp`];
  virtual = await runVirtual(
    configOf(
      { member },
      {
        incomingAuth: {
          type: 'oidc',
          oidc: {
            ...{ issuer, audience: resource, resource, scopes: SCOPES, insecureAllowHttp: true },
            ...{ jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: false },
          },
          authz: { type: 'cedar', policies: policies('member_echo') },
        },
        authServer: {
          schema_version: 'v0.1.0',
          issuer,
          token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
          upstreams: [oidcUpstream(issuer, provider)],
          scopes_supported: SCOPES,
          allowed_audiences: [resource],
          storage: { type: 'memory' },
        },
      },
    ),
    { TOOLHIVE_UPSTREAM_CLIENT_SECRET_LOGIN: UPSTREAM_CLIENT.secret },
    undefined,
    port,
  );
  guarded.virtual = { issuer, resource, tool: 'member_echo' };
});
afterAll(async () => {
  await stopAll();
  await virtual.stop();
  await member.close();
  await provider.close();
});

it('the log contains the reason of the refused call: policy-scope-missing', async () => {
  const { tokens } = await logIn(guarded.proxy as Guarded, { more: { scope: 'openid' } });
  await callMcp(guarded.proxy as Guarded, tokens.access_token);
  await proxyLog.until(/"reason":"policy-scope-missing"/);
});

describe.each(['proxy', 'virtual'])('before a %s server', (kind) => {
  const world = () => guarded[kind] as Guarded;

  it('a token without the scope gets 403 insufficient_scope, with the required scopes and the metadata URL', async () => {
    const { tokens } = await logIn(world(), { more: { scope: 'openid' } });
    const refused = await callMcp(world(), tokens.access_token, world().tool);
    expect(refused.status).toBe(403);
    const header = refused.headers.get('www-authenticate') ?? '';
    expect(header).toMatch(/^Bearer /);
    expect(header).toContain('error="insufficient_scope"');
    expect(header).toContain('scope="openid weather"');
    const { origin } = new URL(world().resource);
    expect(header).toContain(`resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: 403, message: /it needs openid weather/ } });
    const metadata = await (await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(metadata).toMatchObject({ scopes_supported: SCOPES });
    const more = await logIn(world(), { more: { scope: 'openid weather' } });
    // After the policies, a virtual server refuses the call with 400 because it has no session.
    expect([200, 400]).toContain((await callMcp(world(), more.tokens.access_token, world().tool)).status);
  });

  it('a call that no scope would permit is refused without scopes', async () => {
    const { tokens } = await logIn(world(), { more: { scope: 'openid' } });
    const refused = await callMcp(world(), tokens.access_token, `${world().tool}-of-others`);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  it('a token that was narrowed by a refresh gets 403 with the required scopes too', async () => {
    const { client, tokens } = await logIn(world());
    const narrowed: Answer = await refresh(world(), client, tokens.refresh_token ?? '', { scope: 'storm' });
    const refused = await callMcp(world(), tokensOf(narrowed).access_token, world().tool);
    expect(refused.headers.get('www-authenticate')).toContain('scope="weather storm"');
  });

  it('the official client logs in for more scopes by itself, and the call succeeds', async () => {
    const person = newPerson();
    const kept = await keptWith(world(), 'openid', person);
    const url = new URL(world().resource);
    const provider = clientProvider(kept);
    const client = new second.Client({ name: 'official', version: '2' });
    const transport = new second.StreamableHTTPClientTransport(url, { authProvider: provider });
    await client.connect(transport);
    const callTool = () => client.callTool({ name: world().tool, arguments: { text: 'more' } });
    await expect(callTool()).rejects.toThrow(second.UnauthorizedError);
    await finish(kept, person, (code, iss) => transport.finishAuth(code, iss));
    expect(JSON.stringify((await callTool()).content)).toContain('more');
    expect(scopesOf(kept)).toEqual(['openid', 'weather']);
    await client.close();
  });

  it('the official client 1.x logs in for more scopes if it has no refresh token', async () => {
    const person = newPerson();
    const kept = await keptWith(world(), 'openid', person);
    kept.tokens = { access_token: kept.tokens?.access_token ?? '', token_type: 'Bearer' };
    const url = new URL(world().resource);
    const transport = new StreamableHTTPClientTransport(url, { authProvider: clientProvider(kept) });
    const client = new Client({ name: 'official', version: '1' });
    await client.connect(transport);
    const callTool = () => client.callTool({ name: world().tool, arguments: { text: 'more' } });
    await expect(callTool()).rejects.toThrow(UnauthorizedError);
    await finish(kept, person, (code) => transport.finishAuth(code));
    expect(JSON.stringify((await callTool()).content)).toContain('more');
    await client.close();
  });
});

/** Returns the state of a client after a login with these scopes. */
async function keptWith(world: Guarded, scope: string, person: ReturnType<typeof newPerson>): Promise<KeptLogin> {
  const { client, tokens } = await logIn(world, { person, more: { scope } });
  return Object.assign(newKeptLogin(), { client: { client_id: client }, tokens });
}

/** Makes the person consent to the requested scopes, and completes the login. */
async function finish(
  kept: KeptLogin,
  person: ReturnType<typeof newPerson>,
  finishAuth: (code: string, issuer: string) => Promise<void>,
): Promise<void> {
  expect(kept.opened.map((url) => url.searchParams.get('scope'))).toEqual(['openid weather']);
  const place = await person.visit(kept.opened[0]?.href ?? '');
  const { searchParams } = place.url;
  await finishAuth(searchParams.get('code') ?? `no code: ${place.url}`, searchParams.get('iss') ?? '');
}

function scopesOf({ tokens }: KeptLogin): readonly string[] {
  return String(decodeJwt(tokens?.access_token ?? '').scope).split(' ');
}

// Tests every type of outgoing authentication of a virtual server, by the requests that backends receive. In one file,
// because the tests share the issuer of the callers, a real token endpoint and the backend.

import { createRemoteJWKSet } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { Environment } from '#std/environment.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { startLoginProvider, UPSTREAM_CLIENT } from '../../harness/login-provider.ts';
import { type Endpoint, sendJson, startEndpoint } from '../credentials/endpoint.ts';
import { checkSigned, type Session, startTokenService, type TokenService } from '../credentials/token-service.ts';
import { logIn, oidcUpstream } from '../issuer/world.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

let member: TestMember;
let issuer: Issuer;
let exchange: Endpoint;
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  member = await startMember({ tools: [tool('echo')] });
  issuer = await startIssuer();
  exchange = await startEndpoint(({ form }, response) =>
    sendJson(response, 200, {
      access_token: `exchanged ${form.get('audience')} ${form.get('scope')}`.replaceAll(' ', '-'),
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 3600,
    }),
  );
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => Promise.all([member, issuer, exchange].map((each) => each.close())));

async function run(strategy: Strategy, settings: Partial<VmcpConfig> = {}, environment: Environment = {}, port = 0) {
  const config = configOf(
    { member },
    { ...settings, outgoingAuth: { source: 'inline', backends: { member: strategy } } },
  );
  const server = await runVirtual(config, environment, undefined, port);
  running.push(server);
  return server;
}

/** Returns settings that require tokens of the issuer from callers. */
function oidc(): Pick<VmcpConfig, 'incomingAuth'> {
  return {
    incomingAuth: {
      type: 'oidc',
      oidc: {
        issuer: issuer.url,
        audience: 'office',
        resource: 'http://office/mcp',
        scopes: ['openid'],
        jwksAllowPrivateIp: true,
        protectedResourceAllowPrivateIp: false,
        insecureAllowHttp: true,
      },
      authz: { type: 'none' },
    },
  };
}

function token(claims: Record<string, unknown> = {}): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return issuer.sign({ iss: issuer.url, aud: 'office', sub: 'ada', exp, ...claims });
}

/** Calls a tool. Returns the headers that the backend received. */
async function leaving(server: TestedVirtualServer, bearer?: string) {
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const client = await connect(server, {}, headers);
  await client.ask('tools/call', { name: 'member_echo' });
  return member.calls('tools/call').at(-1)?.headers ?? {};
}

const SUBJECT = 'urn:ietf:params:oauth:token-type:access_token';

describe('a backend gets', () => {
  it('no token of the caller if it needs no credentials', async () => {
    const headers = await leaving(await run({ type: 'unauthenticated' }, oidc()), await token());
    expect(headers.authorization).toBeUndefined();
  });

  it.each<[string, Strategy, Environment, string, string]>([
    [
      'a header from a variable',
      { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValueEnv: 'KEY' } },
      { KEY: 'secret' },
      'x-key',
      'secret',
    ],
    [
      'a header that its author wrote down',
      { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValue: 'plain' } },
      {},
      'x-key',
      'plain',
    ],
    [
      'a bearer token',
      { type: 'bearer_token', bearerToken: { tokenEnv: 'TOKEN' } },
      { TOKEN: 'abc' },
      'authorization',
      'Bearer abc',
    ],
  ])('%s, in place of the token of the caller', async (_name, strategy, environment, header, expected) => {
    const headers = await leaving(await run(strategy, oidc(), environment), await token());
    expect(headers[header]).toBe(expected);
    if (header !== 'authorization') expect(headers.authorization).toBeUndefined();
  });

  it('the token from a token exchange', async () => {
    const tokenExchange: Strategy['tokenExchange'] = {
      tokenUrl: `${exchange.url}/token`,
      clientId: 'vmcp',
      clientSecret: 'written',
      audience: 'member',
      scopes: ['a', 'b'],
      subjectTokenType: SUBJECT,
    };
    const caller = await token();
    const headers = await leaving(await run({ type: 'token_exchange', tokenExchange }, oidc()), caller);
    expect(headers.authorization).toBe('Bearer exchanged-member-a-b');
    const asked = exchange.asked.at(-1);
    expect(asked?.form.get('subject_token')).toBe(caller);
    expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('vmcp:written').toString('base64')}`);
  });

  it('the token of the provider at which the caller has logged in', async () => {
    const provider = await startLoginProvider({});
    const port = await freePort();
    const [own, resource] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/mcp`];
    const { incomingAuth } = oidc();
    const { oidc: settings } = incomingAuth;
    if (settings === undefined) throw new Error('no settings');
    const server = await run(
      { type: 'upstream_inject', upstreamInject: { providerName: 'login' } },
      {
        incomingAuth: { ...incomingAuth, oidc: { ...settings, issuer: own, audience: resource, resource } },
        authServer: {
          schema_version: 'v0.1.0',
          issuer: own,
          token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
          upstreams: [oidcUpstream(own, provider)],
          scopes_supported: ['openid'],
          allowed_audiences: [resource],
          storage: { type: 'memory' },
        },
      },
      { TOOLHIVE_UPSTREAM_CLIENT_SECRET_LOGIN: UPSTREAM_CLIENT.secret },
      port,
    );
    const { tokens } = await logIn({ issuer: own });
    const { authorization = '' } = await leaving(server, tokens.access_token);
    expect(authorization).not.toContain(tokens.access_token);
    const me = await fetch(`${provider.url}/me`, { headers: { authorization } });
    expect(JSON.parse(await me.text())).toMatchObject({ sub: 'ada' });
    await provider.close();
  });
});

describe('keys of Cloud STS', () => {
  const ROLE = 'arn:aws:iam::123456789012:role/';
  const STRATEGY: Strategy = {
    type: 'cloud_sts',
    cloudSts: {
      region: 'eu-central-1',
      service: 'execute-api',
      roleMappings: [{ claim: 'admins', roleArn: `${ROLE}Admin` }],
      roleClaim: 'groups',
      sessionDuration: 3600,
      sessionNameClaim: 'sub',
    },
  };
  let service: TokenService;
  let guarded: TestMember;
  const admitted: Session[] = [];

  beforeAll(async () => {
    service = await startTokenService(createRemoteJWKSet(new URL(issuer.jwksUrl)), Date.now);
    guarded = await startMember({
      tools: [tool('echo')],
      admits(request) {
        const checked = checkSigned(service.sessions, request);
        if (typeof checked !== 'string') admitted.push(checked);
        return typeof checked !== 'string';
      },
    });
  });
  afterAll(() => Promise.all([guarded.close(), service.endpoint.close()]));

  async function serve(fallbackRoleArn?: string): Promise<TestedVirtualServer> {
    const cloudSts = { ...STRATEGY.cloudSts, fallbackRoleArn } as NonNullable<Strategy['cloudSts']>;
    const outgoingAuth = { source: 'inline', backends: { guarded: { ...STRATEGY, cloudSts } } } as const;
    const config = configOf({ guarded }, { ...oidc(), ...operational({}), outgoingAuth });
    const server = await runVirtual(config, { AWS_ENDPOINT_URL_STS: service.endpoint.url });
    running.push(server);
    return server;
  }

  it('sign every request to the backend, with the role for the claims of the caller', async () => {
    const server = await serve(`${ROLE}Reader`);
    for (const [claims, role] of [
      [{ sub: 'ada', groups: ['admins'] }, 'Admin'],
      [{ sub: 'eve' }, 'Reader'],
    ] as const) {
      admitted.length = 0;
      const client = await connect(server, {}, { authorization: `Bearer ${await token(claims)}` });
      expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'guarded_echo' }]);
      const called = await client.ask('tools/call', { name: 'guarded_echo', arguments: { é: 'ü' } });
      expect(JSON.parse(called.content[0].text).args).toEqual({ é: 'ü' });
      expect(new Set(admitted.map((each) => `${each.role} ${each.name} ${each.subject}`))).toEqual(
        new Set([`${ROLE}${role} ${claims.sub} ${claims.sub}`]),
      );
    }
    expect(guarded.calls('tools/call').at(-1)?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 /);
  });

  it('are requested once per caller, and the call of a caller without a role is refused', async () => {
    const server = await serve();
    const before = service.endpoint.asked.length;
    const ada = await connect(
      server,
      {},
      {
        authorization: `Bearer ${await token({ sub: 'ada', groups: ['admins'] })}`,
      },
    );
    for (const _ of [1, 2, 3]) await ada.ask('tools/call', { name: 'guarded_echo' });
    expect(service.endpoint.asked.length - before).toBe(1);
    admitted.length = 0;
    const refused = await postTo(
      server.url,
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
      { authorization: `Bearer ${await token({ sub: 'eve' })}` },
    );
    expect([refused.status, refused.json.error.message]).toEqual([
      403,
      expect.stringContaining('the backend guarded is not available'),
    ]);
    expect([admitted, service.endpoint.asked.length - before]).toEqual([[], 1]);
  });
});

it('a backend is not called if its credentials cannot be obtained', async () => {
  exchange.respond((_asked, response) => sendJson(response, 400, { error: 'invalid_grant' }));
  const tokenExchange = { tokenUrl: `${exchange.url}/token`, audience: 'member', subjectTokenType: SUBJECT } as const;
  const settings = { ...oidc(), ...operational({ partialFailureMode: 'best_effort' }) };
  const server = await run({ type: 'token_exchange', tokenExchange }, settings);
  const before = member.asked.length;
  const client = await connect(server, {}, { authorization: `Bearer ${await token()}` });
  expect((await client.ask('tools/list')).tools).toEqual([]);
  expect(member.asked.slice(before).filter(({ message }) => message?.id !== 'skep-probe')).toEqual([]);
});

it('a session belongs to its caller: it accepts a refreshed token, and another caller gets 404', async () => {
  const server = await run({ type: 'unauthenticated' }, oidc());
  const client = await connect(server, {}, { authorization: `Bearer ${await token()}` });
  const ping = async (bearer: string) =>
    (await postTo(server.url, { id: 1, method: 'ping' }, { ...client.headers, authorization: `Bearer ${bearer}` }))
      .status;
  expect(await ping(await token({ jti: 'other' }))).toBe(200);
  expect(await ping(await token({ sub: 'eve' }))).toBe(404);
  expect((await postTo(server.url, { id: 1, method: 'ping' })).status).toBe(401);
});

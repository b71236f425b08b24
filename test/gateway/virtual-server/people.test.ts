// Tests a virtual server with an authorization server and two providers: each backend gets the person's token of its
// provider. An expired token is refreshed once, even if many calls wait.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { type LoginProvider, startLoginProvider, UPSTREAM_CLIENT } from '../../harness/login-provider.ts';
import { callMcp, type LoggedIn, logIn, oidcUpstream } from '../issuer/world.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

/** Lifetime that is so short that a token counts as expired at once. */
const SHORT_SECONDS = 2;

let mail: TestMember;
let files: TestMember;
let company: LoginProvider;
let storage: LoginProvider;
let server: TestedVirtualServer;
let person: LoggedIn;

const ENVIRONMENT = { TOOLHIVE_UPSTREAM_CLIENT_SECRET_LOGIN: UPSTREAM_CLIENT.secret };

function personalConfig(port: number, backends: VmcpConfig['outgoingAuth']['backends']): VmcpConfig {
  const [issuer, resource] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/mcp`];
  return configOf(
    { mail, files },
    {
      incomingAuth: {
        type: 'oidc',
        oidc: {
          ...{ issuer, audience: resource, resource, scopes: ['openid'], insecureAllowHttp: true },
          ...{ jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: false },
        },
        authz: { type: 'none' },
      },
      authServer: {
        schema_version: 'v0.1.0',
        issuer,
        token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
        upstreams: [
          { ...oidcUpstream(issuer, company), name: 'company' },
          { ...oidcUpstream(issuer, storage), name: 'storage' },
        ],
        scopes_supported: ['openid'],
        allowed_audiences: [resource],
        storage: { type: 'memory' },
      },
      outgoingAuth: { source: 'inline', backends },
    },
  );
}

beforeAll(async () => {
  [mail, files, company, storage] = await Promise.all([
    startMember({ tools: [tool('send')] }),
    startMember({ tools: [tool('open')] }),
    startLoginProvider({ accessSeconds: SHORT_SECONDS }),
    startLoginProvider({ accessSeconds: SHORT_SECONDS }),
  ]);
  company.account = 'ada';
  storage.account = 'ada-1815';
  const port = await freePort();
  const config = personalConfig(port, {
    mail: { type: 'upstream_inject', upstreamInject: { providerName: 'company' } },
    files: { type: 'upstream_inject', upstreamInject: { providerName: 'storage' } },
  });
  server = await runVirtual(config, ENVIRONMENT, undefined, port);
  person = await logIn({ issuer: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([mail, files, company, storage].map((each) => each?.close()));
});

function connected() {
  return connect(server, {}, { authorization: `Bearer ${person.tokens.access_token}` });
}

/** Returns the subjects of the tokens that a backend received, as its provider reports them. */
async function calledFor(member: TestMember, { url }: LoginProvider): Promise<readonly unknown[]> {
  const tokens = new Set(member.calls('tools/call').map(({ headers }) => String(headers.authorization)));
  const answers = [...tokens].map(async (authorization) => {
    expect(authorization).not.toContain(person.tokens.access_token);
    const answer = await fetch(`${url}/me`, { headers: { authorization } });
    return (JSON.parse(await answer.text()) as { sub: unknown }).sub;
  });
  return Promise.all(answers);
}

it('refreshes each expired token once, and each backend gets the token of its own provider', async () => {
  company.accessSeconds = 3600;
  storage.accessSeconds = 3600;
  const asked = () => [company, storage].map(({ requests }) => requests.get('/token') ?? 0);
  const before = asked();
  const clients = await Promise.all(Array.from({ length: 8 }, connected));
  const results = await Promise.all(
    clients.flatMap((client) => [
      client.ask('tools/call', { name: 'mail_send' }),
      client.ask('tools/call', { name: 'files_open' }),
    ]),
  );
  expect(results).toHaveLength(16);
  expect(asked()).toEqual(before.map((count) => count + 1));
  expect(mail.calls('tools/call')).toHaveLength(8);
  expect(files.calls('tools/call')).toHaveLength(8);
  expect(await calledFor(mail, company)).toEqual(['ada']);
  expect(await calledFor(files, storage)).toEqual(['ada-1815']);
});

it.each([
  { subjectProviderName: undefined, isEnded: false },
  { subjectProviderName: 'company', isEnded: true },
])(
  'a login whose provider no longer refreshes has ended ($isEnded) if exchanges use $subjectProviderName',
  async ({ subjectProviderName, isEnded }) => {
    const port = await freePort();
    const tokenExchange = {
      tokenUrl: 'http://127.0.0.1:9/token',
      subjectProviderName,
      subjectTokenType: 'urn:ietf:params:oauth:token-type:access_token' as const,
    };
    const exchange = { type: 'token_exchange' as const, tokenExchange };
    company.accessSeconds = SHORT_SECONDS;
    const exchanging = await runVirtual(
      personalConfig(port, { mail: exchange, files: exchange }),
      ENVIRONMENT,
      undefined,
      port,
    );
    const { tokens } = await logIn({ issuer: `http://127.0.0.1:${port}` });
    company.fault = (path, _request, response) => {
      if (path !== '/token') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    const answered = await callMcp({ resource: exchanging.url }, tokens.access_token);
    expect(answered.status === 401).toBe(isEnded);
    company.fault = undefined;
    await exchanging.stop();
  },
);

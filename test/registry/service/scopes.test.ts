// Scopes, where they are enforced: what reads and writes need, and how a token that lacks it is answered (RFC 6750 3.1).

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED } from './gate.ts';
import { openService } from './service.ts';

let issuer: Issuer;
let enforcing: Gate;
let lenient: Gate;

beforeAll(async () => {
  issuer = await startIssuer();
  enforcing = await openGate([{ issuerUrl: issuer.url }], { enforceScopes: true });
  lenient = await openGate([{ issuerUrl: issuer.url }]);
});

afterAll(async () => {
  await Promise.all([enforcing.close(), lenient.close()]);
  await issuer.close();
});

function token(claims: Record<string, unknown>): Promise<string> {
  return issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 60, ...claims });
}

const METADATA = 'resource_metadata="https://registry.example/.well-known/oauth-protected-resource/base"';

function lacking(scope: string): object {
  return {
    status: 403,
    challenge: `Bearer realm="mcp-registry", error="insufficient_scope", error_description="the token lacks the scope ${scope}", scope="${scope}", ${METADATA}`,
    body: `{"error":"the token lacks the scope ${scope}"}`,
  };
}

const READ = 'mcp-registry:read';
const WRITE = 'mcp-registry:write';

test.each([
  { claims: { scope: READ }, method: 'GET', lacks: undefined, reason: 'scope is text' },
  { claims: { scope: `openid ${READ}` }, method: 'HEAD', lacks: undefined, reason: 'one of several' },
  { claims: { scope: [READ] }, method: 'GET', lacks: undefined, reason: 'scope is a list' },
  { claims: { scp: READ }, method: 'GET', lacks: undefined, reason: 'scp is text' },
  { claims: { scp: ['openid', READ] }, method: 'GET', lacks: undefined, reason: 'scp is a list' },
  { claims: {}, method: 'GET', lacks: READ, reason: 'there is none' },
  { claims: { scope: '' }, method: 'GET', lacks: READ, reason: 'it is empty' },
  { claims: { scope: WRITE }, method: 'GET', lacks: READ, reason: 'writing is not reading' },
  { claims: { scope: `${READ}s` }, method: 'GET', lacks: READ, reason: 'ours is only its beginning' },
  { claims: { scope: READ.toUpperCase() }, method: 'GET', lacks: READ, reason: 'it is in capitals' },
  { claims: { scope: { [READ]: true } }, method: 'GET', lacks: READ, reason: 'it is an object' },
  { claims: { scope: READ }, method: 'POST', lacks: WRITE, reason: 'reading is not writing' },
  { claims: { scope: `${READ} ${WRITE}` }, method: 'POST', lacks: undefined, reason: 'both are there' },
] as const)('where scopes are enforced, $method with $claims: $reason', async ({ claims, method, lacks }) => {
  const { status, challenge, body } = await enforcing.ask(await token(claims), method);
  if (lacks === undefined) expect([404, 405]).toContain(status);
  else expect({ status, challenge, body: method === 'GET' || method === 'POST' ? body : '' }).toEqual(lacking(lacks));
});

test('where they are not enforced every valid token will do', async () => {
  expect((await lenient.ask(await token({}))).status).toBe(404);
});

test('a manual sync needs the scope to write also where scopes are not enforced', async () => {
  const url = '/extension/v0/registries/other/sync';
  async function sync(claims: Record<string, unknown>) {
    const headers = { authorization: `Bearer ${await token(claims)}` };
    return (await lenient.app.inject({ method: 'POST', url, headers })).statusCode;
  }
  expect([await sync({}), await sync({ scope: READ }), await sync({ scope: WRITE })]).toEqual([403, 403, 404]);
});

test('a manual sync needs a token below a public path, too', async () => {
  const provider = '{name: main, issuerUrl: "https://id.example", audience: a}';
  const oauth = `{resourceUrl: "https://r.example", providers: [${provider}]}`;
  const service = await openService(`auth: {publicPaths: [/extension], oauth: ${oauth}}`);
  try {
    expect((await service.get('/extension/v0/registries')).status).toBe(200);
    const { status } = await service.send({ method: 'POST', url: '/extension/v0/registries/tools/sync' });
    expect(status).toBe(401);
  } finally {
    await service.close();
  }
});

test('where they are enforced, every challenge says what to ask for', async () => {
  const { challenge } = await enforcing.ask('invented');
  expect(challenge).toBe(REFUSED.challenge.replace('resource_metadata', `scope="${READ}", resource_metadata`));
  const { headers } = await enforcing.app.inject({ method: 'GET', url: '/other/v0.1/servers' });
  expect(headers['www-authenticate']).toBe(`Bearer realm="mcp-registry", scope="${READ}", ${METADATA}`);
});

test('a token that lacks a scope is remembered as little as any other for what it lacks', async () => {
  const reader = await token({ scope: READ });
  expect((await enforcing.ask(reader)).status).toBe(404);
  expect((await enforcing.ask(reader, 'DELETE')).status).toBe(403);
  expect((await enforcing.ask(reader)).status).toBe(404);
});

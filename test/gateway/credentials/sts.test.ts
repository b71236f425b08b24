// Tests Cloud STS with a token service over HTTP that verifies real JWTs, and a server that verifies signatures. In one
// file, because the tests share both servers and the functions that sign and send requests to them.

import { generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  Credential,
  CredentialCaller,
  Credentialed,
  CredentialRefusal,
  OutgoingRequest,
} from '#gateway/credentials/credential.ts';
import { cloudSts, removeCallerSignature } from '#gateway/credentials/sts.ts';
import type { Endpoint, Respond } from './endpoint.ts';
import { type Session, sendError, startSignedServer, startTokenService, type TokenService } from './token-service.ts';
import { ANONYMOUS, outgoing, START_MS, startWorld, type World } from './world.ts';

const ADMIN = 'arn:aws:iam::123456789012:role/team/Admin';
const READER = 'arn:aws:iam::123456789012:role/Reader';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let world: World;
let service: TokenService;
let server: Endpoint;

beforeAll(async () => {
  keys = await generateKeyPair('RS256');
});
beforeEach(async () => {
  service = await startTokenService(keys.publicKey);
  server = await startSignedServer(service.sessions);
  world = startWorld({ AWS_ENDPOINT_URL_STS: service.endpoint.url });
});
afterEach(async () => {
  await Promise.all([service.endpoint.close(), server.close(), world.close()]);
});

type Block = Parameters<typeof cloudSts>[1];
function block(more: Partial<Block> = {}): Block {
  return {
    region: 'eu-central-1',
    service: 'execute-api',
    fallback_role_arn: READER,
    role_mappings: [{ claim: 'admins', role_arn: ADMIN }],
    role_claim: 'groups',
    session_duration: 3600,
    session_name_claim: 'sub',
    ...more,
  };
}

async function callerOf(
  claims: Record<string, unknown> & { readonly sub: string },
  expiry?: number,
): Promise<CredentialCaller> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer('https://issuer.example.com')
    .setExpirationTime(START_MS / 1000 + 7200)
    .sign(keys.privateKey);
  return { key: `issuer ${claims.sub} client`, token, claims: JSON.parse(JSON.stringify(claims)), expiry };
}

function request(
  headers: Readonly<Record<string, string>> = {},
  body = '{"jsonrpc":"2.0","id":1,"method":"ping"}',
): OutgoingRequest {
  return { ...outgoing(headers), url: `${server.url}/mcp/é?b=2&a=x%2Fy`, body: Buffer.from(body) };
}

/** Signs and sends a request. Returns the session whose keys signed it, as the server found it. */
async function send(sign: Credential, sent: OutgoingRequest, caller: CredentialCaller): Promise<Session> {
  const given = await sign(sent, caller);
  if (!given.ok) throw new Error(JSON.stringify(given.refusal));
  const { url, method } = sent;
  const answer = await fetch(url, {
    method,
    headers: { ...given.headers, 'x-added-later': '1' },
    body: sent.body?.toString(),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return JSON.parse(text);
}

function refusalOf(given: Credentialed): CredentialRefusal {
  if (given.ok) throw new Error('a refusal was expected');
  return given.refusal;
}

describe('a request', () => {
  it("is signed with the keys of the caller's role, over its URL and body", async () => {
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada@example.com', groups: ['staff', 'admins'] });
    const bob = await callerOf({ sub: 'bob', groups: ['staff'] });
    expect(await send(sign, request(), ada)).toMatchObject({
      role: ADMIN,
      name: 'ada@example.com',
      subject: 'ada@example.com',
    });
    expect(await send(sign, request(), bob)).toMatchObject({ role: READER, name: 'bob', subject: 'bob' });
    expect(service.endpoint.asked.map(({ form }) => form.get('DurationSeconds'))).toEqual(['3600', '3600']);
  });

  it('without a body is signed too', async () => {
    const sign = cloudSts(world.ports, block());
    const sent = { ...request(), method: 'GET', body: undefined } as const;
    expect(await send(sign, sent, await callerOf({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
  });

  it('gets only headers of the signature, and loses only the token of the caller', async () => {
    const sign = cloudSts(world.ports, block());
    const sent = request({ authorization: 'Bearer caller', 'mcp-session-id': 's', accept: 'application/json' });
    const given = await sign(sent, await callerOf({ sub: 'ada' }));
    const headers = given.ok ? given.headers : {};
    expect(Object.keys(headers).toSorted()).toEqual(
      [...Object.keys(sent.headers), 'x-amz-date', 'x-amz-security-token'].toSorted(),
    );
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=ASIA[0-9A-F]{16}\/20260115\/eu-central-1\/execute-api\/aws4_request, /,
    );
  });

  it('that is changed after its signature is refused by the server', async () => {
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada' });
    const given = await sign(request(), ada);
    const changed: Credential = () => given;
    await expect(send(changed, request({}, '{"other":1}'), ada)).rejects.toThrow(/is not that of/);
  });

  it('does not sign cloud headers of the caller', () => {
    const sent = request({
      authorization: 'x',
      'x-amz-target': 'Delete',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amzn-trace-id': 't',
    });
    expect(removeCallerSignature(sent)).toEqual({
      ok: true,
      headers: { 'content-type': 'application/json', 'x-amzn-trace-id': 't' },
    });
  });
});

describe('keys', () => {
  it('are requested once, and again 30 s before they expire', async () => {
    service.issueKeys(900);
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada' });
    await send(sign, request(), ada);
    world.advance(869_999);
    await send(sign, request(), ada);
    expect(service.endpoint.asked).toHaveLength(1);
    world.advance(1);
    await sign(request(), ada);
    expect(service.endpoint.asked).toHaveLength(2);
  });

  it("are not used beyond the expiry of the caller's token", async () => {
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada' }, START_MS / 1000 + 60);
    await sign(request(), ada);
    world.advance(60_000);
    await sign(request(), ada);
    expect(service.endpoint.asked).toHaveLength(2);
  });

  it('are requested again if the caller has another role with the same token', async () => {
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada', groups: ['admins'] });
    expect(await send(sign, request(), ada)).toMatchObject({ role: ADMIN });
    expect(await send(sign, request(), { ...ada, claims: { sub: 'ada' } })).toMatchObject({ role: READER });
    expect(await send(sign, request(), ada)).toMatchObject({ role: ADMIN });
    expect(service.endpoint.asked).toHaveLength(2);
  });

  it('of ten callers with a hundred parallel calls are requested ten times, and each caller uses its own keys', async () => {
    const sign = cloudSts(world.ports, block());
    const callers = await Promise.all(Array.from({ length: 10 }, (_, index) => callerOf({ sub: `caller-${index}` })));
    const calls = Array.from({ length: 100 }, (_, index) => callers[index % 10] ?? ANONYMOUS);
    const answers = await Promise.all(calls.map((caller) => send(sign, request(), caller)));
    expect(answers.map(({ subject }) => subject)).toEqual(calls.map(({ claims }) => claims.sub));
    expect(service.endpoint.asked).toHaveLength(10);
  });
});

describe('refused, never passed on, is', () => {
  it('an anonymous caller', () => {
    const given = cloudSts(world.ports, block())(request({ authorization: 'Bearer stray' }), ANONYMOUS);
    expect(given).toMatchObject({ ok: false, refusal: { status: 401, code: 'credential-caller-unknown' } });
  });

  it('a caller without a role if there is no fallback', async () => {
    const sign = cloudSts(world.ports, block({ fallback_role_arn: undefined }));
    const given = await sign(request(), await callerOf({ sub: 'ada', groups: ['staff'] }));
    expect(refusalOf(given)).toMatchObject({ status: 403, code: 'sts-role-missing' });
    expect(service.endpoint.asked).toHaveLength(0);
  });

  it.each([
    { sub: 'a' },
    { sub: 'a'.repeat(65) },
    { sub: 'auth0|123' },
    { sub: 'ada\n' },
    { sub: 'ädä' },
    { sub: 'x', name: 7 },
  ])('a caller whose session cannot be named: %j', async (claims) => {
    const sign = cloudSts(world.ports, block({ session_name_claim: 'name' in claims ? 'name' : 'sub' }));
    expect(refusalOf(await sign(request(), await callerOf(claims)))).toMatchObject({
      status: 401,
      code: 'sts-session-name-invalid',
    });
  });

  it.each(['ab', 'a'.repeat(64), 'ada_+=,.@-9'])('not for a caller with the session name %s', async (sub) => {
    expect(await send(cloudSts(world.ports, block()), request(), await callerOf({ sub }))).toMatchObject({ name: sub });
  });

  it.each([
    { status: 400, error: 'InvalidIdentityToken', expected: 401, code: 'sts-token-refused' },
    { status: 400, error: 'ExpiredTokenException', expected: 401, code: 'sts-token-refused' },
    { status: 403, error: 'IDPRejectedClaim', expected: 401, code: 'sts-token-refused' },
    { status: 403, error: 'AccessDenied', expected: 403, code: 'sts-denied' },
    { status: 400, error: 'ValidationError', expected: 502, code: 'sts-misconfigured' },
    { status: 403, error: 'RegionDisabledException', expected: 502, code: 'sts-misconfigured' },
    { status: 400, error: 'IDPCommunicationError', expected: 503, code: 'sts-unavailable' },
    { status: 400, error: 'Throttling', expected: 503, code: 'sts-unavailable' },
    { status: 500, error: 'InternalFailure', expected: 503, code: 'sts-unavailable' },
    { status: 503, error: 'ServiceUnavailable', expected: 503, code: 'sts-unavailable' },
  ])(
    'the error $error, with status $expected and the message of the service in the log',
    async ({ status, error, expected, code }) => {
      const ada = await callerOf({ sub: 'ada' });
      service.endpoint.respond(({ form }, response) => {
        sendError(response, status, error, `Not <allowed> & denied: ${form.get('WebIdentityToken')}`);
      });
      const refusal = refusalOf(await cloudSts(world.ports, block())(request(), ada));
      expect(refusal).toMatchObject({ status: expected, code });
      expect(refusal.detail).toContain(`answered with status ${status}, ${error}: Not <allowed> & denied: ***`);
      for (const piece of (ada.token ?? '').split('.'))
        expect(JSON.stringify(refusal)).not.toContain(piece.slice(0, 16));
    },
  );

  const GOOD = { AccessKeyId: 'ASIA', SecretAccessKey: 's', SessionToken: 't', Expiration: '2026-01-15T13:00:00Z' };
  function credentials(fields: Readonly<Record<string, string>>): string {
    const texts = Object.entries(fields).map(([name, text]) => `<${name}>${text}</${name}>`);
    return `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${texts.join('')}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  }

  it('not for a complete response', async () => {
    service.endpoint.respond((_asked, response) => void response.end(credentials(GOOD)));
    expect(await cloudSts(world.ports, block())(request(), await callerOf({ sub: 'ada' }))).toMatchObject({ ok: true });
  });

  it.each<{ reason: string; respond: Respond }>([
    ...Object.keys(GOOD).map((name) => ({
      reason: `an answer without ${name}`,
      respond: ((_asked, response) => void response.end(credentials({ ...GOOD, [name]: '' }))) satisfies Respond,
    })),
    {
      reason: 'a session token that splits headers',
      respond: (_asked, response) => void response.end(credentials({ ...GOOD, SessionToken: 'a&#13;&#10;X-Admin: 1' })),
    },
    {
      reason: 'an invalid date',
      respond: (_asked, response) => void response.end(credentials({ ...GOOD, Expiration: 'soon' })),
    },
    { reason: 'JSON', respond: (_asked, response) => void response.end('{}') },
    { reason: 'HTML', respond: (_asked, response) => void response.end('<html><br>hello</html>') },
    {
      reason: 'a document type',
      respond: (_asked, response) => void response.end(`<!DOCTYPE a [<!ENTITY b "c">]>${credentials(GOOD)}`),
    },
    { reason: 'a huge answer', respond: (_asked, response) => void response.end('<a>'.repeat(100_000)) },
    {
      reason: 'a redirect',
      respond: (_asked, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    },
  ])('$reason', async ({ respond }) => {
    service.endpoint.respond(respond);
    const refusal = refusalOf(await cloudSts(world.ports, block())(request(), await callerOf({ sub: 'ada' })));
    expect(refusal).toMatchObject({ status: 502, code: 'sts-answer-invalid' });
    expect(service.endpoint.asked).toHaveLength(1);
  });

  it('any caller for a second after a failure of the service', async () => {
    const sign = cloudSts(world.ports, block());
    const ada = await callerOf({ sub: 'ada' });
    await service.endpoint.stop();
    expect(refusalOf(await sign(request(), ada))).toMatchObject({
      status: 503,
      code: 'sts-unavailable',
      retryAfterSeconds: 1,
    });
    await service.endpoint.resume();
    expect(refusalOf(await sign(request(), ada))).toMatchObject({ status: 503 });
    world.advance(1_000);
    expect(await send(sign, request(), ada)).toMatchObject({ subject: 'ada' });
  });
});

it.each([
  { region: 'eu-central-1', url: 'https://sts.eu-central-1.amazonaws.com/' },
  { region: 'us-gov-west-1', url: 'https://sts.us-gov-west-1.amazonaws.com/' },
  { region: 'cn-north-1', url: 'https://sts.cn-north-1.amazonaws.com.cn/' },
])('the token service of $region has the URL $url', async ({ region, url }) => {
  const asked: string[] = [];
  const plain = startWorld();
  const ports = {
    ...plain.ports,
    fetch: async (each: { readonly url: string }) => {
      asked.push(each.url);
      return { status: 500, headers: {}, body: new Uint8Array() };
    },
  };
  await cloudSts(ports, block({ region }))(request(), await callerOf({ sub: 'ada' }));
  expect(asked).toEqual([url]);
  await plain.close();
});

it.each([
  { reason: 'no role at all', more: { fallback_role_arn: undefined, role_mappings: [] } },
  { reason: 'an invalid role', more: { fallback_role_arn: 'arn:aws:iam::1:role/x' } },
  { reason: 'a region that leads elsewhere', more: { region: 'evil.example.com/' }, environment: {} },
  { reason: 'an endpoint that is not a URL', more: {}, environment: { AWS_ENDPOINT_URL_STS: 'localhost' } },
])('a block with $reason prevents the start', ({ more, environment }) => {
  const ports = { ...world.ports, environment: environment ?? world.ports.environment };
  expect(() => cloudSts(ports, block(more))).toThrow(expect.objectContaining({ code: 'credential-config-invalid' }));
});

// Tests token exchange with a token endpoint over HTTP that verifies and issues real JWTs. In one file, because the
// tests share this endpoint, its keys and the functions that read tokens and refusals.

import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialCaller, Credentialed, CredentialRefusal } from '#gateway/credentials/credential.ts';
import { tokenExchange } from '#gateway/credentials/exchange/exchange.ts';
import type { Respond } from './endpoint.ts';
import { type Endpoint, sendJson, startEndpoint } from './endpoint.ts';
import { ANONYMOUS, outgoing, START_MS, startWorld, type World } from './world.ts';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const SECRET = 'p%ss:w+rd & more';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let world: World;
let endpoint: Endpoint;

beforeAll(async () => {
  keys = await generateKeyPair('ES256');
});
beforeEach(async () => {
  world = startWorld({ SECRET });
  endpoint = await startEndpoint(issue);
});
afterEach(async () => {
  await endpoint.close();
  await world.close();
});

/** Verifies the subject token, and issues a token for the same subject. */
const issue: Respond = async ({ form }, response) => {
  const { payload } = await jwtVerify(form.get('subject_token') ?? '', keys.publicKey, {
    currentDate: new Date(START_MS),
  });
  const token = await signed({ sub: payload.sub, aud: form.get('audience') });
  sendJson(response, 200, {
    access_token: token,
    issued_token_type: ACCESS_TOKEN,
    token_type: 'Bearer',
    expires_in: 300,
  });
};

function signed(claims: Record<string, unknown>): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime(START_MS / 1000 + 3600)
    .sign(keys.privateKey);
}

async function callerOf(sub: string, expiry?: number): Promise<CredentialCaller> {
  return { key: `issuer ${sub} client`, token: await signed({ sub, jti: sub }), claims: { sub }, expiry };
}

function block(more: Partial<Parameters<typeof tokenExchange>[1]> = {}): Parameters<typeof tokenExchange>[1] {
  return {
    token_url: `${endpoint.url}/token?tenant=1`,
    audience: 'https://mcp.example.com',
    subject_token_type: ACCESS_TOKEN,
    header_strategy: 'replace',
    ...more,
  };
}

function headersOf(given: Credentialed): Readonly<Record<string, string>> {
  if (!given.ok) throw new Error(JSON.stringify(given.refusal));
  return given.headers;
}

function refusalOf(given: Credentialed): CredentialRefusal {
  if (given.ok) throw new Error('a refusal was expected');
  return given.refusal;
}

async function subjectOf(authorization: string | undefined): Promise<unknown> {
  const token = authorization?.replace(/^Bearer /, '') ?? '';
  return (await jwtVerify(token, keys.publicKey, { currentDate: new Date(START_MS) })).payload.sub;
}

describe('the request', () => {
  it('has the form of RFC 8693, with Basic authentication of the client', async () => {
    const config = block({ client_id: 'the proxy/1', client_secret_env_var: 'SECRET', scopes: ['read', 'write'] });
    const caller = await callerOf('ada');
    await tokenExchange(world.ports, config)(outgoing(), caller);
    const [asked] = endpoint.asked;
    expect(asked?.path).toBe('/token?tenant=1');
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: caller.token,
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      audience: 'https://mcp.example.com',
      scope: 'read write',
    });
    expect(asked?.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('the+proxy%2F1:p%25ss%3Aw%2Brd+%26+more').toString('base64')}`,
    });
  });

  it.each(['id_token', 'jwt'] as const)('contains the subject token type %s', async (type) => {
    const config = block({ subject_token_type: `urn:ietf:params:oauth:token-type:${type}` });
    await tokenExchange(world.ports, config)(outgoing(), await callerOf('ada'));
    expect(endpoint.asked[0]?.form.get('subject_token_type')).toBe(`urn:ietf:params:oauth:token-type:${type}`);
  });

  it('of a public client contains the client id in the form, without Basic', async () => {
    await tokenExchange(world.ports, block({ client_id: 'public' }))(outgoing(), await callerOf('ada'));
    expect(endpoint.asked[0]?.form.get('client_id')).toBe('public');
    expect(endpoint.asked[0]?.headers.authorization).toBeUndefined();
  });

  it.each(['SECRET', 'UNSET'])(
    'without a client id contains none, and does not use the secret in %s',
    async (variable) => {
      await tokenExchange(world.ports, block({ client_secret_env_var: variable }))(outgoing(), await callerOf('ada'));
      expect(endpoint.asked[0]?.form.has('client_id')).toBe(false);
      expect(endpoint.asked[0]?.headers.authorization).toBeUndefined();
    },
  );

  it('uses the current secret in the file', async () => {
    const file = world.write('secret', 'first\n');
    const exchange = tokenExchange(world.ports, block({ client_id: 'proxy', client_secret_file: file }));
    await exchange(outgoing(), await callerOf('ada'));
    world.write('secret', 'second\n');
    await exchange(outgoing(), await callerOf('bob'));
    expect(endpoint.asked.map(({ headers }) => headers.authorization)).toEqual(
      ['proxy:first', 'proxy:second'].map((pair) => `Basic ${Buffer.from(pair).toString('base64')}`),
    );
  });
});

describe('the new token', () => {
  it('replaces the token in Authorization', async () => {
    const caller = await callerOf('ada');
    const request = outgoing({ authorization: `Bearer ${caller.token}`, 'x-other': 'kept' });
    const headers = headersOf(await tokenExchange(world.ports, block())(request, caller));
    expect(await subjectOf(headers.authorization)).toBe('ada');
    expect({ ...headers, authorization: '' }).toEqual({ ...request.headers, authorization: '' });
  });

  it('is in its own header for the strategy custom, without Authorization', async () => {
    const config = block({ header_strategy: 'custom', external_token_header_name: 'X-Upstream-Token' });
    const caller = await callerOf('ada');
    const request = outgoing({ authorization: `Bearer ${caller.token}`, 'x-upstream-token': 'invented' });
    const headers = headersOf(await tokenExchange(world.ports, config)(request, caller));
    expect(await subjectOf(headers['x-upstream-token'])).toBe('ada');
    expect(headers).not.toHaveProperty('authorization');
  });

  it('is requested once, and again 30 s before it expires', async () => {
    const exchange = tokenExchange(world.ports, block());
    const caller = await callerOf('ada');
    await exchange(outgoing(), caller);
    world.advance(269_999);
    expect(exchange(outgoing(), caller)).not.toBeInstanceOf(Promise);
    expect(endpoint.asked).toHaveLength(1);
    world.advance(1);
    headersOf(await exchange(outgoing(), caller));
    expect(endpoint.asked).toHaveLength(2);
  });

  it("is not used beyond the expiry of the caller's own", async () => {
    const exchange = tokenExchange(world.ports, block());
    const caller = await callerOf('ada', START_MS / 1000 + 60);
    await exchange(outgoing(), caller);
    world.advance(59_999);
    await exchange(outgoing(), caller);
    expect(endpoint.asked).toHaveLength(1);
    world.advance(1);
    await exchange(outgoing(), caller);
    expect(endpoint.asked).toHaveLength(2);
  });

  it('differs for another token of the caller, and for another caller with the same token', async () => {
    const exchange = tokenExchange(world.ports, block());
    const caller = await callerOf('ada');
    for (const each of [
      caller,
      { ...caller, token: await signed({ sub: 'ada', jti: 'new' }) },
      { ...caller, key: 'another' },
    ]) {
      await exchange(outgoing(), each);
    }
    expect(endpoint.asked).toHaveLength(3);
  });

  it.each([undefined, 10])('is not stored if expires_in is %s', async (expires_in) => {
    endpoint.respond((_asked, response) => {
      sendJson(response, 200, { access_token: 't', issued_token_type: ACCESS_TOKEN, token_type: 'bearer', expires_in });
    });
    const exchange = tokenExchange(world.ports, block());
    const caller = await callerOf('ada');
    expect(headersOf(await exchange(outgoing(), caller)).authorization).toBe('Bearer t');
    expect(headersOf(await exchange(outgoing(), caller)).authorization).toBe('Bearer t');
    expect(endpoint.asked).toHaveLength(2);
  });
});

it('a hundred parallel calls of one caller lead to one request', async () => {
  const exchange = tokenExchange(world.ports, block());
  const caller = await callerOf('ada');
  const given = await Promise.all(Array.from({ length: 100 }, () => exchange(outgoing(), caller)));
  expect(new Set(given.map((each) => headersOf(each).authorization)).size).toBe(1);
  expect(endpoint.asked).toHaveLength(1);
});

it('a hundred parallel calls of ten callers lead to ten requests, and each caller gets its own token', async () => {
  const exchange = tokenExchange(world.ports, block());
  const callers = await Promise.all(Array.from({ length: 10 }, (_, index) => callerOf(`caller ${index}`)));
  const calls = Array.from({ length: 100 }, (_, index) => callers[index % 10] ?? ANONYMOUS);
  const given = await Promise.all(calls.map((caller) => exchange(outgoing(), caller)));
  const subjects = await Promise.all(given.map((each) => subjectOf(headersOf(each).authorization)));
  expect(subjects).toEqual(calls.map(({ claims }) => claims.sub));
  expect(endpoint.asked).toHaveLength(10);
});

describe('the call is refused for', () => {
  it.each([
    { reason: 'an anonymous caller', caller: ANONYMOUS },
    { reason: 'a caller with an empty token', caller: { key: 'ada', token: '', claims: {} } },
  ])('$reason, although there is an Authorization', ({ caller }) => {
    const given = tokenExchange(world.ports, block())(outgoing({ authorization: 'Bearer stray' }), caller);
    expect(given).toMatchObject({ ok: false, refusal: { status: 401, code: 'credential-caller-unknown' } });
    expect(endpoint.asked).toHaveLength(0);
  });

  it.each([
    { status: 400, error: 'invalid_grant', expected: 401, code: 'exchange-token-refused' },
    { status: 400, error: 'invalid_request', expected: 401, code: 'exchange-token-refused' },
    { status: 403, error: 'access_denied', expected: 403, code: 'exchange-denied' },
    { status: 401, error: 'invalid_client', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'unauthorized_client', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'unsupported_grant_type', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'invalid_target', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'invalid_scope', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'constructor', expected: 502, code: 'exchange-misconfigured' },
    { status: 400, error: 'temporarily_unavailable', expected: 503, code: 'exchange-unavailable' },
    { status: 400, error: 'server_error', expected: 503, code: 'exchange-unavailable' },
    { status: 500, error: 'server_error', expected: 503, code: 'exchange-unavailable' },
    { status: 503, error: 'server_error', expected: 503, code: 'exchange-unavailable' },
  ])(
    'the error $error, with status $expected and the message of the endpoint in the log',
    async ({ status, error, expected, code }) => {
      const caller = await callerOf('ada');
      endpoint.respond(({ form, headers }, response) => {
        // The error description repeats the sent secrets.
        const words = `no: ${form.get('subject_token')} ${form.get('subject_token')?.slice(0, 40)} ${SECRET} ${headers.authorization}`;
        sendJson(response, status, { error, error_description: `${error} because\r\n${words}` });
      });
      const exchange = tokenExchange(world.ports, block({ client_id: 'proxy', client_secret_env_var: 'SECRET' }));
      const refusal = refusalOf(await exchange(outgoing(), caller));
      expect(refusal).toMatchObject({ status: expected, code });
      expect(refusal.detail).toContain(
        `${endpoint.url}/token answered with status ${status}, ${error}: ${error} because`,
      );
      const shown = JSON.stringify(refusal);
      for (const piece of [...(caller.token ?? '').split('.'), SECRET, 'tenant'])
        expect(shown).not.toContain(piece.slice(0, 16));
      expect(refusal.detail).not.toMatch(/[\r\n]/);
      expect(refusal.message).not.toContain(endpoint.url);
    },
  );

  it('a refused token, which is requested again at the next call', async () => {
    endpoint.respond((_asked, response) => sendJson(response, 400, { error: 'invalid_grant' }));
    const exchange = tokenExchange(world.ports, block());
    const caller = await callerOf('ada');
    refusalOf(await exchange(outgoing(), caller));
    endpoint.respond(issue);
    headersOf(await exchange(outgoing(), caller));
  });

  const GOOD = { access_token: 't', issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 300 };
  it.each([
    { reason: 'without access_token', answer: { ...GOOD, access_token: undefined } },
    { reason: 'with an access_token that splits headers', answer: { ...GOOD, access_token: 't\r\nX-Admin: 1' } },
    { reason: 'with an access_token that is not a text', answer: { ...GOOD, access_token: { t: 1 } } },
    { reason: 'without issued_token_type', answer: { ...GOOD, issued_token_type: undefined } },
    { reason: 'without token_type', answer: { ...GOOD, token_type: undefined } },
    { reason: 'with token_type N_A', answer: { ...GOOD, token_type: 'N_A' } },
    { reason: 'with expires_in that is not a number', answer: { ...GOOD, expires_in: 'soon' } },
    { reason: 'that is a list', answer: [GOOD] },
  ])('a response $reason', async ({ answer }) => {
    endpoint.respond((_asked, response) => sendJson(response, 200, answer));
    const given = await tokenExchange(world.ports, block())(outgoing(), await callerOf('ada'));
    expect(refusalOf(given)).toMatchObject({ status: 502, code: 'exchange-answer-invalid' });
  });

  const HUGE = JSON.stringify({ ...GOOD, access_token: 'a'.repeat(200_000) });
  it.each<{ reason: string; respond: Respond }>([
    {
      reason: 'HTML',
      respond: (_asked, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello'),
    },
    { reason: 'HTML with status 404', respond: (_asked, response) => void response.writeHead(404).end('<html>no') },
    {
      reason: 'bytes that are no UTF-8',
      respond: (_asked, response) => void response.end(Buffer.from([0x7b, 0xff, 0x7d])),
    },
    { reason: 'a huge answer', respond: (_asked, response) => void response.end(HUGE) },
    {
      reason: 'a huge answer in pieces',
      respond: (_asked, response) => {
        response.write(HUGE.slice(0, 100_000));
        response.end(HUGE.slice(100_000));
      },
    },
    {
      reason: 'a redirect',
      respond: (_asked, response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    },
  ])('$reason, and the endpoint stays open to the others', async ({ respond }) => {
    endpoint.respond(respond);
    const exchange = tokenExchange(world.ports, block());
    const refusal = refusalOf(await exchange(outgoing(), await callerOf('ada')));
    expect(refusal).toMatchObject({ status: 502, code: 'exchange-answer-invalid' });
    expect(endpoint.asked.map(({ path }) => path)).toEqual(['/token?tenant=1']);
    endpoint.respond(issue);
    headersOf(await exchange(outgoing(), await callerOf('bob')));
  });
});

describe('an endpoint that is down', () => {
  it('gets no request for one second, then two, and after a success for one again; stored tokens stay in use', async () => {
    const exchange = tokenExchange(world.ports, block());
    const [ada, bob] = [await callerOf('ada'), await callerOf('bob')];
    await exchange(outgoing(), ada);
    await endpoint.stop();
    const down = { status: 503, code: 'exchange-unavailable' };
    expect(refusalOf(await exchange(outgoing(), bob))).toMatchObject({ ...down, retryAfterSeconds: 1 });
    await endpoint.resume();
    expect(refusalOf(await exchange(outgoing(), bob))).toMatchObject({
      ...down,
      detail: expect.stringContaining('no new request yet'),
    });
    expect(endpoint.asked).toHaveLength(1);
    headersOf(await exchange(outgoing(), ada));
    await endpoint.stop();
    world.advance(1_000);
    expect(refusalOf(await exchange(outgoing(), bob))).toMatchObject({ ...down, retryAfterSeconds: 2 });
    await endpoint.resume();
    world.advance(2_000);
    headersOf(await exchange(outgoing(), bob));
    await endpoint.stop();
    expect(refusalOf(await exchange(outgoing(), await callerOf('carol')))).toMatchObject({ retryAfterSeconds: 1 });
  });

  it('delays many callers that fail together no longer than a single caller', async () => {
    await endpoint.stop();
    const exchange = tokenExchange(world.ports, block());
    const callers = await Promise.all(Array.from({ length: 20 }, (_, index) => callerOf(`caller ${index}`)));
    const given = await Promise.all(callers.map((caller) => exchange(outgoing(), caller)));
    expect(given.map((each) => refusalOf(each).retryAfterSeconds)).toEqual(callers.map(() => 1));
  });

  it.each([
    { header: '7', seconds: 7 },
    { header: '100000', seconds: 60 },
    { header: 'Wed, 21 Oct 2026 07:28:00 GMT', seconds: 1 },
    { header: '-5', seconds: 1 },
  ])('that sends Retry-After: $header gets the next request after $seconds s', async ({ header, seconds }) => {
    endpoint.respond((_asked, response) => void response.writeHead(429, { 'retry-after': header }).end());
    const given = await tokenExchange(world.ports, block())(outgoing(), await callerOf('ada'));
    expect(refusalOf(given)).toMatchObject({ status: 503, retryAfterSeconds: seconds });
  });

  it.each([400, 500])('only for one caller (%i server_error) gets requests of other callers', async (status) => {
    endpoint.respond((_asked, response) => sendJson(response, status, { error: 'server_error' }));
    const exchange = tokenExchange(world.ports, block());
    const given = await exchange(outgoing(), await callerOf('ada'));
    expect(refusalOf(given)).toMatchObject({ status: 503, retryAfterSeconds: 1 });
    endpoint.respond(issue);
    headersOf(await exchange(outgoing(), await callerOf('bob')));
  });

  it('is also an endpoint that never responds', async () => {
    const slow = startWorld({}, 200);
    endpoint.respond(() => undefined);
    const given = await tokenExchange(slow.ports, block())(outgoing(), await callerOf('ada'));
    expect(refusalOf(given)).toMatchObject({
      status: 503,
      code: 'exchange-unavailable',
      detail: expect.stringContaining('/token'),
    });
    expect(JSON.stringify(refusalOf(given))).not.toContain('tenant');
    await slow.close();
  });
});

it.each([
  { reason: 'custom without a header', more: { header_strategy: 'custom' as const } },
  {
    reason: 'a header of the connection',
    more: { header_strategy: 'custom' as const, external_token_header_name: 'Host' },
  },
  { reason: 'an invalid URL', more: { token_url: 'token' } },
  { reason: 'a URL with a password', more: { token_url: 'https://a:b@example.com/token' } },
  { reason: 'another scheme', more: { token_url: 'file:///etc/passwd' } },
])('a block with $reason prevents the start', ({ more }) => {
  const start = () => tokenExchange(world.ports, block(more));
  expect(start).toThrow(expect.objectContaining({ code: 'credential-config-invalid' }));
});

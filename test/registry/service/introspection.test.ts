// Opaque tokens: what a provider's introspection endpoint says, how often it is asked, with which credentials.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProviderConfig } from '#contracts/registry/service.ts';
import { INTROSPECTION_CLIENT, type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED, UNJUDGED } from './gate.ts';
import { serve } from './serve.ts';

let issuer: Issuer;
let directory: string;
let gate: Gate;
const cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  issuer = await startIssuer();
  directory = await mkdtemp(join(tmpdir(), 'skep-introspection-'));
  await writeFile(join(directory, 'secret'), `${INTROSPECTION_CLIENT.secret}\n`);
});

afterAll(async () => {
  await issuer.close();
  await rm(directory, { recursive: true });
});

afterEach(async () => {
  await gate.close();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function asking(change: Partial<ProviderConfig> = {}): Partial<ProviderConfig> {
  return {
    issuerUrl: issuer.url,
    introspectionUrl: issuer.introspectionUrl,
    clientId: INTROSPECTION_CLIENT.id,
    clientSecretFile: join(directory, 'secret'),
    ...change,
  };
}

async function checkAccepted(token: string): Promise<void> {
  expect(await gate.ask(token)).toEqual({ status: 404, challenge: undefined, body: '{"error":"registry not found"}' });
}

async function checkRefused(token: string, reasons: readonly string[], answer: object = REFUSED): Promise<void> {
  expect({ ...(await gate.ask(token)), reasons: gate.lastReasons() }).toEqual({ ...answer, reasons });
  expect(gate.logs()).not.toContain(token);
  expect(gate.logs()).not.toContain(INTROSPECTION_CLIENT.secret);
}

test('an active opaque token is accepted, and asked about once a minute', async () => {
  gate = await openGate([asking()]);
  const token = await issuer.token('opaque', AUDIENCE);
  await checkAccepted(token);
  await Promise.all([checkAccepted(token), checkAccepted(token)]);
  gate.advance(59_000);
  await checkAccepted(token);
  expect(gate.outbound).toEqual([issuer.introspectionUrl]);
  gate.advance(1_000);
  await checkAccepted(token);
  expect(gate.outbound).toHaveLength(2);
});

test('requests that arrive together ask once', async () => {
  gate = await openGate([asking()]);
  const token = await issuer.token('opaque', AUDIENCE);
  await Promise.all([checkAccepted(token), checkAccepted(token), checkAccepted(token)]);
  expect(gate.outbound).toHaveLength(1);
});

test('a token that is revoked is refused within a minute', async () => {
  gate = await openGate([asking()]);
  const token = await issuer.token('opaque', AUDIENCE);
  await checkAccepted(token);
  issuer.revoke(token);
  gate.advance(60_000);
  await checkRefused(token, ['p0 introspection token-inactive']);
});

test('a token that nobody issued is refused, and not asked about again at once', async () => {
  gate = await openGate([asking()]);
  await checkRefused('made-up-token-of-nobody', ['p0 introspection token-inactive']);
  await checkRefused('made-up-token-of-nobody', ['p0 introspection token-inactive']);
  expect(gate.outbound).toHaveLength(1);
});

test('an opaque token for another audience is refused', async () => {
  gate = await openGate([asking()]);
  await checkRefused(await issuer.token('opaque', 'https://elsewhere.example'), ['p0 introspection audience-mismatch']);
});

test('an opaque token goes through the providers that can be asked, in order', async () => {
  const second = await startIssuer();
  cleanups.push(() => second.close());
  gate = await openGate([
    { issuerUrl: 'https://nobody.example' },
    asking(),
    asking({ issuerUrl: second.url, introspectionUrl: second.introspectionUrl }),
  ]);
  await checkAccepted(await second.token('opaque', AUDIENCE));
  expect(gate.outbound).toEqual([issuer.introspectionUrl, second.introspectionUrl]);
});

test('a JWT that is refused as such is asked about as well', async () => {
  gate = await openGate([asking()]);
  const token = await issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp: 1 });
  await checkRefused(token, ['p0 jwt token-expired', 'p0 introspection token-unsupported']);
});

/** Signed in a way that no key can verify, so only the provider can tell. */
function unverifiable(iss: string | undefined): string {
  const parts = [{ alg: 'HS256' }, { aud: AUDIENCE, exp: 9_999_999_999, ...(iss === undefined ? {} : { iss }) }, 'x'];
  return parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

test.each([
  { names: 'https://a.example', asked: ['/a'], reason: 'the provider that it names, and no other' },
  { names: 'https://b.example', asked: ['/b'], reason: 'the provider that it names, although another comes first' },
  { names: 'https://c.example', asked: [], reason: 'nobody, where the provider that it names cannot be asked' },
  { names: 'https://elsewhere.example', asked: ['/a', '/b'], reason: 'each in order, where it names nobody we know' },
  { names: undefined, asked: ['/a', '/b'], reason: 'each in order, where it names nobody' },
])('a JWT that cannot be verified goes to $reason', async ({ names, asked }) => {
  const seen: string[] = [];
  const endpoint = await serve((request, response) => {
    seen.push(request.url ?? '');
    response.end(JSON.stringify({ active: false }));
  });
  cleanups.push(endpoint.close);
  const provider = (name: string) => ({
    issuerUrl: `https://${name}.example`,
    jwksUrl: `${endpoint.url}/jwks`,
    ...(name === 'c' ? {} : { introspectionUrl: `${endpoint.url}/${name}` }),
  });
  gate = await openGate(['a', 'b', 'c'].map(provider));
  expect((await gate.ask(unverifiable(names))).status).toBe(401);
  expect(seen).toEqual(asked);
});

test('a JWT that only introspection can judge is accepted where its answer has the right claims', async () => {
  const url = await answering((_request, response) => response.end(JSON.stringify(GOOD)));
  gate = await openGate([{ issuerUrl: 'https://i.example', jwksUrl: url, introspectionUrl: url }]);
  await checkAccepted(unverifiable('https://i.example'));
  await checkAccepted(unverifiable('https://proxy-of-i.example'));
});

test('a token that one provider refuses and another cannot be asked about is not called invalid', async () => {
  const url = await answering((_request, response) => response.end(JSON.stringify({ active: false })));
  gate = await openGate([
    { issuerUrl: 'https://i.example', introspectionUrl: url },
    { issuerUrl: 'https://j.example', introspectionUrl: 'http://127.0.0.1:1/' },
  ]);
  const reasons = ['p0 introspection token-inactive', 'p1 introspection introspection-unavailable'];
  await checkRefused('an-opaque-token-of-somebody', reasons, UNJUDGED);
});

test('a wrong client secret says nothing about tokens, the log explains it, and a corrected file is read with the next question', async () => {
  const file = join(directory, 'changing');
  await writeFile(file, 'wrong');
  gate = await openGate([asking({ clientSecretFile: file })]);
  const token = await issuer.token('opaque', AUDIENCE);
  await checkRefused(token, ['p0 introspection introspection-unavailable'], UNJUDGED);
  expect(gate.logs()).toContain('answered with status 401');
  await writeFile(file, INTROSPECTION_CLIENT.secret);
  gate.advance(1_000);
  await checkAccepted(token);
});

test('while the endpoint is down it is asked with pauses', async () => {
  const down = await startIssuer();
  cleanups.push(() => down.close());
  gate = await openGate([asking({ issuerUrl: down.url, introspectionUrl: down.introspectionUrl })]);
  const token = await down.token('opaque', AUDIENCE);
  await down.stop();
  await checkRefused(token, ['p0 introspection introspection-unavailable'], UNJUDGED);
  await checkRefused(token, ['p0 introspection introspection-unavailable'], UNJUDGED);
  expect(gate.outbound).toHaveLength(1);
  await down.resume();
  gate.advance(1_000);
  await checkAccepted(token);
});

/** URL of an endpoint that answers as told. */
async function answering(answer: RequestListener): Promise<string> {
  const endpoint = await serve(answer);
  cleanups.push(endpoint.close);
  return `${endpoint.url}/introspect`;
}

const GOOD = { active: true, iss: 'https://i.example', aud: AUDIENCE, exp: 9_999_999_999 };

test.each([
  { reason: 'active is text', body: { ...GOOD, active: 'true' }, refused: 'token-inactive' },
  { reason: 'iss is missing', body: { ...GOOD, iss: undefined }, refused: 'claim-missing' },
  { reason: 'aud is missing', body: { ...GOOD, aud: undefined }, refused: 'claim-missing' },
  { reason: 'exp is missing', body: { ...GOOD, exp: undefined }, refused: 'claim-missing' },
  { reason: 'exp is past', body: { ...GOOD, exp: 1 }, refused: 'token-expired' },
  { reason: 'it is bound to a key (RFC 7662, cnf)', body: { ...GOOD, cnf: { jkt: 'x' } }, refused: 'token-bound' },
  { reason: 'iss is another one', body: { ...GOOD, iss: 'https://j.example' }, refused: 'issuer-mismatch' },
])('an introspected token is refused where $reason', async ({ body, refused }) => {
  const url = await answering((_request, response) => response.end(JSON.stringify(body)));
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url }]);
  await checkRefused('an-opaque-token-of-somebody', [`p0 introspection ${refused}`]);
});

test.each([
  { reason: 'no JSON', answer: (response) => response.end('<html>') },
  { reason: 'a list', answer: (response) => response.end('[]') },
  { reason: 'a redirect', answer: (response) => response.writeHead(302, { location: '/elsewhere' }).end() },
  { reason: 'bad request', answer: (response) => response.writeHead(400).end('{"error":"invalid_request"}') },
  { reason: 'wrong credentials', answer: (response) => response.writeHead(401).end('{"error":"invalid_client"}') },
  { reason: 'too many requests', answer: (response) => response.writeHead(429).end() },
  { reason: 'an error', answer: (response) => response.writeHead(500).end(JSON.stringify(GOOD)) },
  { reason: 'too much', answer: (response) => response.end(JSON.stringify({ ...GOOD, pad: 'x'.repeat(600_000) })) },
] satisfies { reason: string; answer: (response: Parameters<RequestListener>[1]) => unknown }[])(
  'an endpoint that answers with $reason lets nobody in, says nothing about the token, and is not asked again at once',
  async ({ answer }) => {
    const url = await answering((_request, response) => answer(response));
    gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url }]);
    for (let count = 0; count < 3; count += 1) {
      await checkRefused('an-opaque-token-of-somebody', ['p0 introspection introspection-unavailable'], UNJUDGED);
    }
    expect(gate.outbound).toHaveLength(1);
  },
);

test('an endpoint that fails is asked with growing pauses, whatever the tokens', async () => {
  const url = await answering((_request, response) => response.writeHead(500).end());
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url }]);
  async function askTwenty(): Promise<number> {
    const before = gate.outbound.length;
    for (let count = 0; count < 20; count += 1) {
      expect((await gate.ask(`opaque-${before}-${count}`)).status).toBe(503);
    }
    return gate.outbound.length - before;
  }
  expect(await askTwenty()).toBe(1);
  gate.advance(1_000);
  expect(await askTwenty()).toBe(1);
  gate.advance(1_000);
  expect(await askTwenty()).toBe(0);
  gate.advance(1_000);
  expect(await askTwenty()).toBe(1);
});

test('a token that the endpoint cannot answer for keeps no other token out', async () => {
  const url = await answering((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () =>
      body.includes('strange') ? response.writeHead(400).end() : response.end(JSON.stringify(GOOD)),
    );
  });
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url }]);
  await checkRefused('a-strange-one', ['p0 introspection introspection-unavailable'], UNJUDGED);
  expect(gate.logs()).toContain('introspection-unusable');
  await checkAccepted('an-opaque-token-of-somebody');
});

test('an endpoint that answers for no JWTs leaves them to their signatures', async () => {
  gate = await openGate([asking()]);
  const before = await issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp: 9_999_999_999 }, { header: { kid: 'gone' } });
  await checkRefused(before, ['p0 jwt key-unknown', 'p0 introspection token-unsupported']);
});

test('a JWT that no key of ours verifies is not called invalid while its provider cannot be asked about it', async () => {
  const url = await answering((request, response) =>
    request.method === 'GET' ? response.end('{"keys":[]}') : response.writeHead(502).end(),
  );
  gate = await openGate([{ issuerUrl: 'https://i.example', jwksUrl: url, introspectionUrl: url }]);
  const reasons = ['p0 jwt algorithm-refused', 'p0 introspection introspection-unavailable'];
  await checkRefused(unverifiable('https://i.example'), reasons, UNJUDGED);
});

test('an acceptance is remembered no longer than the token lives', async () => {
  let asked = 0;
  const expiry = Math.floor(Date.now() / 1000) + 20;
  const url = await answering((_request, response) => {
    asked += 1;
    response.end(JSON.stringify({ ...GOOD, exp: expiry }));
  });
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url }]);
  await checkAccepted('an-opaque-token-of-somebody');
  gate.advance(20_000);
  await checkRefused('an-opaque-token-of-somebody', ['p0 introspection token-expired']);
  expect(asked).toBe(2);
});

test('the question carries the token in a form, and a bearer token where one is configured', async () => {
  const seen: { headers: IncomingMessage['headers']; body: string }[] = [];
  const url = await answering((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ headers: request.headers, body });
      response.end(JSON.stringify(GOOD));
    });
  });
  const file = join(directory, 'bearer');
  await writeFile(file, 'first\n');
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url, authTokenFile: file }]);
  await checkAccepted('opaque+token/of~somebody==');
  await writeFile(file, 'second\n');
  gate.advance(60_000);
  await checkAccepted('opaque+token/of~somebody==');
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  expect(seen[0]?.headers).toMatchObject({
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  });
  expect(seen[0]?.body).toBe('token=opaque%2Btoken%2Fof%7Esomebody%3D%3D&token_type_hint=access_token');
});

test.each([
  { reason: 'is empty', content: ' \n' },
  { reason: 'would break out of its header', content: 'a\r\nx-evil: 1' },
])('a token file that $reason lets nobody in and sends nothing', async ({ content }) => {
  const url = await answering((_request, response) => response.end(JSON.stringify(GOOD)));
  const file = join(directory, 'bad-bearer');
  await writeFile(file, content);
  gate = await openGate([{ issuerUrl: 'https://i.example', introspectionUrl: url, authTokenFile: file }]);
  await checkRefused('an-opaque-token-of-somebody', ['p0 introspection introspection-unavailable'], UNJUDGED);
  expect(gate.outbound).toEqual([]);
  expect(gate.logs()).toContain('provider-secret-invalid');
});

test('a missing secret file is a refusal that names the file', async () => {
  gate = await openGate([asking({ clientSecretFile: join(directory, 'missing') })]);
  const token = await issuer.token('opaque', AUDIENCE);
  await checkRefused(token, ['p0 introspection introspection-unavailable'], UNJUDGED);
  expect(gate.logs()).toContain(`${join(directory, 'missing')} cannot be read`);
});

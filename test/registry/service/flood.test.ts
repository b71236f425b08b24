// Ten thousand invented tokens: what they cost the provider, the memory of the service, and those who have a good token.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { type Authenticate, createAuthenticate } from '#auth/providers.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE } from './gate.ts';
import { type Endpoint, serve } from './serve.ts';

const TOKENS = 10_000;
const GOOD = 'a-good-opaque-token';

let issuer: Issuer;
let introspection: Endpoint;
let outbound: Outbound;
let authenticate: Authenticate;
let asked = 0;
let offsetMs = 0;

beforeAll(async () => {
  issuer = await startIssuer();
  introspection = await serve((request, response) => {
    asked += 1;
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const active = new URLSearchParams(body).get('token') === GOOD;
      response.end(JSON.stringify({ active, iss: issuer.url, aud: AUDIENCE, exp: 9_999_999_999 }));
    });
  });
  outbound = createOutbound({ allowPrivate: [], version: 'test' });
  authenticate = createAuthenticate(
    {
      fetch: outbound.request,
      files: { read: () => Promise.reject(new Error('no file is configured')) },
      clock: { now: () => Date.now() + offsetMs, monotonic: () => performance.now() + offsetMs },
      notify: () => undefined,
    },
    [
      {
        name: 'main',
        issuerUrl: issuer.url,
        audience: AUDIENCE,
        introspectionUrl: introspection.url,
        allowPrivateIP: true,
      },
    ],
  );
});

afterAll(async () => {
  await outbound.close();
  await Promise.all([issuer.close(), introspection.close()]);
});

async function outcome(token: string): Promise<string> {
  const verdict = await authenticate([`Bearer ${token}`]);
  return verdict.ok ? 'accepted' : verdict.rejection.reason;
}

async function outcomes(tokens: readonly string[]): Promise<Record<string, number>> {
  const all = await Promise.all(tokens.map(outcome));
  return Object.fromEntries([...Map.groupBy(all, (each) => each)].map(([name, each]) => [name, each.length]));
}

function heapMiB(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

test('invented opaque tokens are asked about two hundred times at once, and twenty times a second from then on', async () => {
  expect(await outcome(GOOD)).toBe('accepted');
  asked = 0;
  const before = heapMiB();
  const started = performance.now();
  const found = await outcomes(Array.from({ length: TOKENS }, (_, index) => `invented-opaque-token-${index}`));
  expect((found['token-refused'] ?? 0) + (found['token-unjudged'] ?? 0)).toBe(TOKENS);
  expect(asked).toBeGreaterThanOrEqual(200);
  expect(asked).toBeLessThanOrEqual(200 + (20 * (performance.now() - started)) / 1000 + 1);
  expect(heapMiB() - before).toBeLessThan(8);
});

test('who has a good token notices nothing, also when it is due to be asked about again', async () => {
  expect(await outcome(GOOD)).toBe('accepted');
  offsetMs += 60_000;
  await outcomes(Array.from({ length: 300 }, (_, index) => `another-opaque-token-${index}`));
  expect(await outcome(GOOD)).toBe('accepted');
});

test('forged JWTs are verified and refused, and make nobody fetch keys', async () => {
  offsetMs += 60_000;
  const good = await issuer.token('jwt', AUDIENCE);
  expect(await outcome(good)).toBe('accepted');
  const [header, , signature] = good.split('.');
  const forged = Array.from({ length: TOKENS }, (_, index) => {
    const claims = { iss: issuer.url, aud: AUDIENCE, exp: 9_999_999_999, sub: `invented-${index}` };
    return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
  });
  const keys = issuer.requests.get('/jwks');
  const before = heapMiB();
  asked = 0;
  const found = await outcomes(forged);
  // Its signature is wrong: that the provider was not asked as well changes nothing.
  expect(found).toEqual({ 'token-refused': TOKENS });
  expect(asked).toBeLessThanOrEqual(400);
  expect(issuer.requests.get('/jwks')).toBe(keys);
  expect(heapMiB() - before).toBeLessThan(8);
  expect(await outcome(good)).toBe('accepted');
});

test('invented issuers and key ids do not pile up either', async () => {
  const secret = new Uint8Array(32);
  const tokens = await Promise.all(
    Array.from({ length: 1000 }, (_, index) =>
      new SignJWT({ iss: `https://invented-${index}.example` })
        .setProtectedHeader({ alg: 'HS256', kid: `invented-${index}` })
        .sign(secret),
    ),
  );
  const before = heapMiB();
  await outcomes(tokens);
  expect(heapMiB() - before).toBeLessThan(4);
});

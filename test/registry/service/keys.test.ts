// Providers whose keys or discovery documents are odd, and the certificates they are reached with.

import { generateKeyPairSync, type KeyObject, sign as rawSign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { AUDIENCE, type Gate, openGate, REFUSED, UNJUDGED } from './gate.ts';
import { type Endpoint, serve } from './serve.ts';

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

let directory: string;
let gate: Gate | undefined;
let endpoint: Endpoint | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skep-keys-'));
});

afterAll(() => rm(directory, { recursive: true }));

afterEach(async () => {
  await gate?.close();
  await endpoint?.close();
});

/** RS256 by hand, because jose rightly refuses to sign with what some of these tests need. */
function token(issuer: string, header: object = { kid: 'one' }, key: KeyObject = keys.privateKey): string {
  const claims = { iss: issuer, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 60 };
  const input = [{ alg: 'RS256', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${rawSign('sha256', Buffer.from(input), key).toString('base64url')}`;
}

function jwk(key: KeyObject, more: object = { kid: 'one' }): object {
  return { ...key.export({ format: 'jwk' }), ...more };
}

async function check(asked: string, expected: 'accepted' | string): Promise<void> {
  const answer = await gate?.ask(asked);
  if (expected === 'accepted') expect(answer?.status).toBe(404);
  else {
    const shown = expected.endsWith('keys-unavailable') ? UNJUDGED : REFUSED;
    expect({ ...answer, reasons: gate?.lastReasons() }).toEqual({ ...shown, reasons: [expected] });
  }
}

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const secondKey = generateKeyPairSync('rsa', { modulusLength: 2048 });

test.each([
  {
    reason: 'the key is the only one and has no id',
    jwks: [jwk(keys.publicKey, {})],
    header: {},
    expected: 'accepted',
  },
  {
    reason: 'the token names no key and one key fits',
    jwks: [jwk(elliptic.publicKey), jwk(keys.publicKey)],
    header: {},
    expected: 'accepted',
  },
  {
    reason: 'the token names no key and several fit',
    jwks: [jwk(keys.publicKey), jwk(secondKey.publicKey, { kid: 'two' })],
    header: {},
    expected: 'p0 jwt key-unusable',
  },
  {
    reason: 'the key is for encryption',
    jwks: [jwk(keys.publicKey, { kid: 'one', use: 'enc' })],
    expected: 'p0 jwt key-unknown',
  },
  {
    reason: 'the key is for another algorithm',
    jwks: [jwk(keys.publicKey, { kid: 'one', alg: 'RS512' })],
    expected: 'p0 jwt key-unknown',
  },
  { reason: 'the key of that id is of another type', jwks: [jwk(elliptic.publicKey)], expected: 'p0 jwt key-unknown' },
  { reason: 'there are no keys', jwks: [], expected: 'p0 jwt key-unknown' },
  { reason: 'the key is broken', jwks: [{ kty: 'RSA', kid: 'one', n: '!', e: '!' }], expected: 'p0 jwt key-unusable' },
  { reason: 'the private key was published', jwks: [jwk(keys.privateKey)], expected: 'p0 jwt key-unusable' },
  { reason: 'a key is no object', jwks: ['key'], expected: 'p0 jwt keys-unavailable' },
  { reason: 'the keys are no list', jwks: 'none', expected: 'p0 jwt keys-unavailable' },
])('where $reason a well-signed token is: $expected', async ({ jwks, header, expected }) => {
  endpoint = await serve((_request, response) => response.end(JSON.stringify({ keys: jwks })));
  gate = await openGate([{ issuerUrl: 'https://i.example', jwksUrl: `${endpoint.url}/jwks` }]);
  await check(token('https://i.example', header), expected);
});

test('a key that is too short is not used', async () => {
  endpoint = await serve((_request, response) => response.end(JSON.stringify({ keys: [jwk(weak.publicKey)] })));
  gate = await openGate([{ issuerUrl: 'https://i.example', jwksUrl: `${endpoint.url}/jwks` }]);
  await check(token('https://i.example', { kid: 'one' }, weak.privateKey), 'p0 jwt key-unusable');
});

test.each([
  { reason: 'names no keys', document: (issuer: string) => ({ issuer }) },
  { reason: 'names keys at no URL', document: (issuer: string) => ({ issuer, jwks_uri: '/jwks' }) },
  { reason: 'names a file', document: (issuer: string) => ({ issuer, jwks_uri: 'file:///etc/passwd' }) },
  { reason: 'names no issuer', document: () => ({ jwks_uri: 'https://i.example/jwks' }) },
  { reason: 'is no object', document: () => [] },
])('a discovery document that $reason gives no keys', async ({ document }) => {
  const started = await serve((_request, response) => response.end(JSON.stringify(document(started.url))));
  endpoint = started;
  gate = await openGate([{ issuerUrl: started.url }]);
  await check(token(started.url), 'p0 jwt keys-unavailable');
  expect(gate.outbound).toEqual([`${started.url}/.well-known/openid-configuration`]);
});

test('the discovery document of an issuer with a path and a slash is below that path', async () => {
  const started = await serve((request, response) => {
    const documents: Record<string, object> = {
      '/tenant/.well-known/openid-configuration': { issuer: `${started.url}/tenant/`, jwks_uri: `${started.url}/keys` },
      '/keys': { keys: [jwk(keys.publicKey)] },
    };
    response.end(JSON.stringify(documents[request.url ?? ''] ?? {}));
  });
  endpoint = started;
  gate = await openGate([{ issuerUrl: `${started.url}/tenant/` }]);
  await check(token(`${started.url}/tenant/`), 'accepted');
});

test('the CA of a provider is read anew, and replaces the trusted roots', async () => {
  const authority = createAuthority('provider-ca', validity);
  const identity = createServerCertificate(authority, 'provider-ca', ['127.0.0.1'], validity);
  const started = await serve((request, response) => {
    const discovery = { issuer: started.url, jwks_uri: `${started.url}/jwks` };
    response.end(JSON.stringify(request.url === '/jwks' ? { keys: [jwk(keys.publicKey)] } : discovery));
  }, identity);
  endpoint = started;
  const file = join(directory, 'ca.pem');
  await writeFile(file, createAuthority('another-ca', validity).certificate);
  gate = await openGate([{ issuerUrl: started.url, caCertPath: file }]);
  await check(token(started.url), 'p0 jwt keys-unavailable');
  expect(gate.logs()).toContain('outbound-tls');
  await writeFile(file, authority.certificate);
  gate.advance(1_000);
  await check(token(started.url), 'accepted');
});

test('an https issuer cannot send us to keys on http', async () => {
  const authority = createAuthority('provider-ca', validity);
  const identity = createServerCertificate(authority, 'provider-ca', ['127.0.0.1'], validity);
  const started = await serve((_request, response) => {
    response.end(JSON.stringify({ issuer: started.url, jwks_uri: 'http://127.0.0.1:1/jwks' }));
  }, identity);
  endpoint = started;
  const file = join(directory, 'ca-http.pem');
  await writeFile(file, authority.certificate);
  gate = await openGate([{ issuerUrl: started.url, caCertPath: file }]);
  await check(token(started.url), 'p0 jwt keys-unavailable');
  expect(gate.logs()).toContain('provider-url-insecure');
  expect(gate.outbound).toHaveLength(1);
});

test('the token for the provider accompanies discovery and keys, and is read anew', async () => {
  const seen: string[] = [];
  const started = await serve((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    const discovery = { issuer: started.url, jwks_uri: `${started.url}/jwks` };
    response.end(JSON.stringify(request.url === '/jwks' ? { keys: [jwk(keys.publicKey)] } : discovery));
  });
  endpoint = started;
  const file = join(directory, 'token');
  await writeFile(file, 'first');
  gate = await openGate([{ issuerUrl: started.url, authTokenFile: file }]);
  await check(token(started.url), 'accepted');
  await writeFile(file, 'second');
  gate.advance(10 * 60_000);
  await gate.ask(token(started.url));
  const discovery = '/.well-known/openid-configuration';
  expect(seen).toEqual([
    `${discovery} Bearer first`,
    '/jwks Bearer first',
    `${discovery} Bearer second`,
    '/jwks Bearer second',
  ]);
});

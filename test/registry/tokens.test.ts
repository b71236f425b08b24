// Which tokens are let in: real OpenID providers, real keys, and forgeries of every sort.

import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Issuer, type IssuerAlgorithm, startIssuer } from '../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED } from './gate.ts';

let issuer: Issuer;
let other: Issuer;
let gate: Gate;

beforeAll(async () => {
  [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
});

afterAll(async () => {
  await Promise.all([issuer.close(), other.close()]);
});

afterEach(() => gate.close());

function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1000) + fromNow;
}

/** Claims that would be accepted. */
function claims(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { iss: issuer.url, aud: AUDIENCE, exp: seconds(60), sub: 'somebody', ...change };
}

async function checkAccepted(token: string): Promise<void> {
  expect(await gate.ask(token)).toEqual({ status: 404, challenge: undefined, body: '{"error":"registry not found"}' });
}

/** The public answer is always the same; the log says why. */
async function checkRefused(token: string, reasons: readonly string[]): Promise<void> {
  const answer = await gate.ask(token);
  expect({ ...answer, reasons: gate.lastReasons() }).toEqual({ ...REFUSED, reasons });
  const [, payload = '', signature = ''] = token.split('.');
  for (const secret of [token, payload, signature]) {
    if (secret.length > 20) expect(gate.logs()).not.toContain(secret);
  }
}

test('a JWT of the provider is accepted', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  await checkAccepted(await issuer.token('jwt', AUDIENCE));
});

test.each<IssuerAlgorithm>(['RS256', 'PS256', 'ES256', 'EdDSA'])('%s signatures are accepted', async (algorithm) => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  await checkAccepted(await issuer.sign(claims(), { algorithm }));
});

test('one of several audiences is enough', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  await checkAccepted(await issuer.sign(claims({ aud: ['https://other.example', AUDIENCE] })));
});

test('keys are fetched once, not per request', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  const token = await issuer.token('jwt', AUDIENCE);
  await Promise.all([checkAccepted(token), checkAccepted(token)]);
  await checkAccepted(token);
  expect(gate.outbound).toEqual([`${issuer.url}/.well-known/openid-configuration`, issuer.jwksUrl]);
});

test('with a jwksUrl there is no discovery', async () => {
  gate = await openGate([{ issuerUrl: issuer.url, jwksUrl: issuer.jwksUrl }]);
  await checkAccepted(await issuer.token('jwt', AUDIENCE));
  expect(gate.outbound).toEqual([issuer.jwksUrl]);
});

test('each token goes to the provider that it names, and to no other', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }, { issuerUrl: other.url }]);
  await checkAccepted(await other.token('jwt', AUDIENCE));
  expect(gate.outbound.filter((url) => url.startsWith(issuer.url))).toEqual([]);
});

test('one issuer may be configured for several audiences', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }, { issuerUrl: issuer.url, audience: 'https://second.example' }]);
  await checkAccepted(await issuer.token('jwt', 'https://second.example'));
});

interface Forgery {
  readonly reason: string;
  readonly token: () => Promise<string> | string;
  readonly refused: string;
}

test.each<Forgery>([
  {
    reason: 'an expired token',
    token: () => issuer.sign(claims({ exp: seconds(-1) })),
    refused: 'p0 jwt token-expired',
  },
  {
    reason: 'a token that expires this very second',
    token: () => issuer.sign(claims({ exp: seconds(0) })),
    refused: 'p0 jwt token-expired',
  },
  {
    reason: 'a token without exp',
    token: () => issuer.sign(claims({ exp: undefined })),
    refused: 'p0 jwt claim-missing',
  },
  {
    reason: 'a token whose exp is text',
    token: () => issuer.sign(claims({ exp: String(seconds(60)) as unknown as number })),
    refused: 'p0 jwt claim-invalid',
  },
  {
    reason: 'a token for another audience',
    token: () => issuer.token('jwt', 'https://elsewhere.example'),
    refused: 'p0 jwt audience-mismatch',
  },
  {
    reason: 'a token without aud',
    token: () => issuer.sign(claims({ aud: undefined })),
    refused: 'p0 jwt claim-missing',
  },
  {
    reason: 'a token that is not valid yet',
    token: () => issuer.sign(claims({ nbf: seconds(60) })),
    refused: 'p0 jwt token-not-yet-valid',
  },
  {
    reason: 'a token whose claims were changed after signing',
    token: async () => {
      const [header, , signature] = (await issuer.sign(claims())).split('.');
      const payload = Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
    refused: 'p0 jwt signature-invalid',
  },
  {
    reason: 'a token signed with the key of another provider under the same key id',
    token: () => other.sign(claims()),
    refused: 'p0 jwt signature-invalid',
  },
  {
    reason: 'a token whose signature is cut off',
    token: async () => (await issuer.sign(claims())).replace(/[^.]*$/, ''),
    refused: 'p0 jwt signature-invalid',
  },
  {
    reason: 'an unsecured token (alg none)',
    token: () => new UnsecuredJWT(claims()).encode(),
    refused: 'p0 jwt algorithm-refused',
  },
  {
    reason: 'a token with alg None in other letters and a signature',
    token: async () => forgeHeader(await issuer.sign(claims()), { alg: 'NoNe' }),
    refused: 'p0 jwt algorithm-refused',
  },
  {
    reason: 'a token signed by HMAC with the public key as secret',
    token: () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: 'RS256-1' })
        .sign(Buffer.from(JSON.stringify(issuer.publicKey('RS256')))),
    refused: 'p0 jwt algorithm-refused',
  },
  {
    reason: 'a token whose key id names a key of another algorithm',
    token: () => issuer.sign(claims(), { header: { kid: 'ES256-1' } }),
    refused: 'p0 jwt key-unknown',
  },
  {
    reason: 'a token with an unknown key id',
    token: () => issuer.sign(claims(), { header: { kid: 'nobody' } }),
    refused: 'p0 jwt key-unknown',
  },
  {
    reason: 'a token that brings its own key',
    token: () => other.sign(claims(), { header: { kid: 'mine', jwk: other.publicKey('RS256') } }),
    refused: 'p0 jwt key-unknown',
  },
  {
    reason: 'a token with a critical header that nobody understands',
    token: async () => forgeHeader(await issuer.sign(claims()), { alg: 'RS256', kid: 'RS256-1', crit: ['x'], x: 1 }),
    refused: 'p0 jwt token-malformed',
  },
  {
    reason: 'a token whose issuer has one slash more',
    token: () => issuer.sign(claims({ iss: `${issuer.url}/` })),
    refused: 'provider-unknown',
  },
  {
    reason: 'a token of an issuer that is not configured',
    token: () => other.token('jwt', AUDIENCE),
    refused: 'provider-unknown',
  },
  {
    reason: 'a token without an issuer',
    token: () => issuer.sign(claims({ iss: undefined })),
    refused: 'provider-unknown',
  },
  {
    reason: 'an opaque token where nobody can be asked about it',
    token: () => issuer.token('opaque', AUDIENCE),
    refused: 'provider-unknown',
  },
  { reason: 'garbage with two dots', token: () => 'a.b.c', refused: 'provider-unknown' },
  { reason: 'an encrypted token', token: () => 'eyJhbGciOiJkaXIifQ.a.b.c.d', refused: 'provider-unknown' },
  { reason: 'a token that is too long', token: () => 'a'.repeat(16_385), refused: 'token-too-long' },
])('$reason is refused: $refused', async ({ token, refused }) => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  await checkRefused(await token(), [refused]);
});

function forgeHeader(token: string, header: object): string {
  return token.replace(/^[^.]*/, Buffer.from(JSON.stringify(header)).toString('base64url'));
}

test('a token of one configured provider that claims to be of another is refused', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }, { issuerUrl: other.url }]);
  await checkRefused(await issuer.sign(claims({ iss: other.url })), ['p1 jwt signature-invalid']);
});

test('a rotated key is found at once, and tokens of the old key are refused', async () => {
  const rotating = await startIssuer();
  gate = await openGate([{ issuerUrl: rotating.url }]);
  const before = await rotating.token('jwt', AUDIENCE);
  await checkAccepted(before);
  gate.advance(31_000);
  await rotating.rotateKeys();
  await checkAccepted(await rotating.token('jwt', AUDIENCE));
  await checkRefused(before, ['p0 jwt key-unknown']);
  await rotating.close();
});

test('invented key ids make the keys be fetched once per cool-down', async () => {
  gate = await openGate([{ issuerUrl: issuer.url, jwksUrl: issuer.jwksUrl }]);
  for (let count = 0; count < 5; count += 1) {
    await checkRefused(await issuer.sign(claims(), { header: { kid: `invented-${count}` } }), ['p0 jwt key-unknown']);
  }
  expect(gate.outbound).toHaveLength(1);
  gate.advance(30_000);
  for (let count = 0; count < 5; count += 1) {
    await checkRefused(await issuer.sign(claims(), { header: { kid: `invented-${count}` } }), ['p0 jwt key-unknown']);
  }
  expect(gate.outbound).toHaveLength(2);
});

test('while the provider is down its keys stay in use for an hour, and its return is noticed', async () => {
  const failing = await startIssuer();
  gate = await openGate([{ issuerUrl: failing.url }]);
  const lasting = await failing.sign({ iss: failing.url, aud: AUDIENCE, exp: seconds(7200) });
  await checkAccepted(lasting);
  await failing.stop();
  gate.advance(11 * 60_000);
  await checkAccepted(lasting);
  expect(gate.logs()).toContain('"code":"keys-stale"');
  gate.advance(50 * 60_000);
  await checkRefused(lasting, ['p0 jwt keys-unavailable']);
  await failing.resume();
  gate.advance(30_000);
  await checkAccepted(lasting);
  await failing.close();
});

test('a provider that is down is asked with growing pauses and holds up no other provider', async () => {
  const down = await startIssuer();
  const lost = await down.token('jwt', AUDIENCE);
  await down.stop();
  gate = await openGate([{ issuerUrl: down.url }, { issuerUrl: other.url }]);
  await checkRefused(lost, ['p0 jwt keys-unavailable']);
  await checkRefused(lost, ['p0 jwt keys-unavailable']);
  expect(gate.outbound).toHaveLength(1);
  await checkAccepted(await other.token('jwt', AUDIENCE));
  gate.advance(1_000);
  await checkRefused(lost, ['p0 jwt keys-unavailable']);
  gate.advance(1_000);
  await checkRefused(lost, ['p0 jwt keys-unavailable']);
  expect(gate.outbound.filter((url) => url.startsWith(down.url))).toHaveLength(2);
  await down.close();
});

test('a discovery document that names another issuer is not believed', async () => {
  const alias = issuer.url.replace('127.0.0.1', 'localhost');
  gate = await openGate([{ issuerUrl: alias }]);
  await checkRefused(await issuer.sign(claims({ iss: alias })), ['p0 jwt keys-unavailable']);
  expect(gate.logs()).toContain('provider-issuer-mismatch');
});

test('a provider at a private address is not asked unless that is allowed', async () => {
  gate = await openGate([{ issuerUrl: issuer.url, allowPrivateIP: false }]);
  await checkRefused(await issuer.token('jwt', AUDIENCE), ['p0 jwt keys-unavailable']);
  expect(gate.logs()).toContain('outbound-refused-address');
});

// Forged and foreign tokens of every sort, against a provider that signs JWTs: each is refused, whether or not the provider
// can be asked about tokens as well.

import { createHmac, generateKeyPairSync, sign as rawSign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportSPKI, importJWK, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INTROSPECTION_CLIENT, type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED } from './gate.ts';
import { type Endpoint, serve } from './serve.ts';

let issuer: Issuer;
let other: Issuer;
let directory: string;
let attacker: Endpoint;
/** What the service asked the attacker for. */
const visits: string[] = [];
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });

beforeAll(async () => {
  [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
  directory = await mkdtemp(join(tmpdir(), 'skep-forgeries-'));
  await writeFile(join(directory, 'secret'), INTROSPECTION_CLIENT.secret);
  attacker = await serve((request, response) => {
    visits.push(request.url ?? '');
    response.end(JSON.stringify({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'mine' }] }));
  });
});

afterAll(async () => {
  await Promise.all([issuer.close(), other.close(), attacker.close()]);
  await rm(directory, { recursive: true });
});

function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1000) + fromNow;
}

/** Claims that would be accepted. */
function claims(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { iss: issuer.url, aud: AUDIENCE, exp: seconds(60), sub: 'somebody', ...change };
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** RS256 with the attacker's key, whatever the header says. */
function signedByAttacker(header: object, payload: unknown = claims()): string {
  const input = `${encode({ alg: 'RS256', ...header })}.${encode(payload)}`;
  return `${input}.${rawSign('sha256', Buffer.from(input), own.privateKey).toString('base64url')}`;
}

function withHeader(token: string, header: object): string {
  return token.replace(/^[^.]*/, encode(header));
}

function withSignature(token: string, signature: Uint8Array): string {
  return token.replace(/[^.]*$/, Buffer.from(signature).toString('base64url'));
}

function signedByHmac(secret: string, header: object = {}): string {
  const input = `${encode({ alg: 'HS256', kid: 'RS256-1', ...header })}.${encode(claims())}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

async function publicPem(): Promise<string> {
  return exportSPKI(Object(await importJWK(issuer.publicKey('RS256'), 'RS256', { extractable: true })));
}

interface Forgery {
  readonly reason: string;
  readonly token: () => Promise<string> | string;
  /** What is wrong with it as a JWT; `none`: it names no one whose keys could be looked at. */
  readonly refused: string | 'none' | 'too-long';
}

const FORGERIES: readonly Forgery[] = [
  {
    reason: 'an expired token',
    token: () => issuer.sign(claims({ exp: seconds(-1) })),
    refused: 'token-expired',
  },
  {
    reason: 'a token that expires this very second',
    token: () => issuer.sign(claims({ exp: seconds(0) })),
    refused: 'token-expired',
  },
  {
    reason: 'a token without exp',
    token: () => issuer.sign(claims({ exp: undefined })),
    refused: 'claim-missing',
  },
  {
    reason: 'a token whose exp is text',
    token: () => issuer.sign(claims({ exp: String(seconds(60)) as unknown as number })),
    refused: 'claim-invalid',
  },
  {
    reason: 'a token for another audience',
    token: () => issuer.token('jwt', 'https://elsewhere.example'),
    refused: 'audience-mismatch',
  },
  {
    reason: 'a token without aud',
    token: () => issuer.sign(claims({ aud: undefined })),
    refused: 'claim-missing',
  },
  {
    reason: 'a token that is not valid yet',
    token: () => issuer.sign(claims({ nbf: seconds(60) })),
    refused: 'token-not-yet-valid',
  },
  {
    reason: 'a token whose claims were changed after signing',
    token: async () => {
      const [header, , signature] = (await issuer.sign(claims())).split('.');
      const payload = Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
    refused: 'signature-invalid',
  },
  {
    reason: 'a token signed with the key of another provider under the same key id',
    token: () => other.sign(claims()),
    refused: 'signature-invalid',
  },
  {
    reason: 'a token whose signature is cut off',
    token: async () => (await issuer.sign(claims())).replace(/[^.]*$/, ''),
    refused: 'signature-invalid',
  },
  {
    reason: 'an unsecured token (alg none)',
    token: () => new UnsecuredJWT(claims()).encode(),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a token with alg None in other letters and a signature',
    token: async () => withHeader(await issuer.sign(claims()), { alg: 'NoNe' }),
    refused: 'algorithm-refused',
  },
  {
    reason: 'an algorithm that is an object without a text',
    token: async () => withHeader(await issuer.sign(claims()), { alg: { toString: 1 } }),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a type that is an object without a text',
    token: async () => issuer.sign(claims(), { header: { typ: { toString: 1, valueOf: 1 } as unknown as string } }),
    refused: 'type-refused',
  },
  {
    reason: 'a token signed by HMAC with the public key as secret',
    token: () => signedByHmac(JSON.stringify(issuer.publicKey('RS256'))),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a token whose key id names a key of another algorithm',
    token: () => issuer.sign(claims(), { header: { kid: 'ES256-1' } }),
    refused: 'key-unknown',
  },
  {
    reason: 'a token with an unknown key id',
    token: () => issuer.sign(claims(), { header: { kid: 'nobody' } }),
    refused: 'key-unknown',
  },
  {
    reason: 'a token that brings its own key',
    token: () => other.sign(claims(), { header: { kid: 'mine', jwk: other.publicKey('RS256') } }),
    refused: 'key-unknown',
  },
  {
    reason: 'a token with a critical header that nobody understands',
    token: async () => withHeader(await issuer.sign(claims()), { alg: 'RS256', kid: 'RS256-1', crit: ['x'], x: 1 }),
    refused: 'token-malformed',
  },
  {
    reason: 'a token whose issuer has one slash more',
    token: () => issuer.sign(claims({ iss: `${issuer.url}/` })),
    refused: 'none',
  },
  {
    reason: 'a token of an issuer that is not configured',
    token: () => other.token('jwt', AUDIENCE),
    refused: 'none',
  },
  {
    reason: 'a token without an issuer',
    token: () => issuer.sign(claims({ iss: undefined })),
    refused: 'none',
  },
  {
    reason: 'an opaque token of another provider',
    token: () => other.token('opaque', AUDIENCE),
    refused: 'none',
  },
  { reason: 'garbage with two dots', token: () => 'a.b.c', refused: 'none' },
  { reason: 'an encrypted token', token: () => 'eyJhbGciOiJkaXIifQ.a.b.c.d', refused: 'none' },
  { reason: 'a token that is too long', token: () => 'a'.repeat(16_385), refused: 'too-long' },
  {
    reason: 'a token signed by HMAC with the public key as PEM',
    token: async () => signedByHmac(await publicPem()),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a token signed by HMAC with an empty secret',
    token: () => signedByHmac(''),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a token signed by HMAC that says RS256',
    token: () => signedByHmac('secret', { alg: 'RS256' }),
    refused: 'signature-invalid',
  },
  {
    reason: 'a token that says where its keys are (jku)',
    token: () => signedByAttacker({ kid: 'mine', jku: `${attacker.url}/jwks` }),
    refused: 'key-unknown',
  },
  {
    reason: 'a token that says where its certificate is (x5u)',
    token: () => signedByAttacker({ kid: 'RS256-1', x5u: `${attacker.url}/certificate` }),
    refused: 'signature-invalid',
  },
  {
    reason: 'a token that brings its certificate (x5c)',
    token: () => signedByAttacker({ kid: 'RS256-1', x5c: ['MIIB'] }),
    refused: 'signature-invalid',
  },
  {
    reason: 'a key id that is a path',
    token: () => signedByAttacker({ kid: '../../../../dev/null' }),
    refused: 'key-unknown',
  },
  { reason: 'a key id that is SQL', token: () => signedByAttacker({ kid: "' or 1=1 --" }), refused: 'key-unknown' },
  { reason: 'a key id that is no text', token: () => signedByAttacker({ kid: { $ne: null } }), refused: 'key-unknown' },
  {
    reason: 'an ECDSA signature of zeros',
    token: async () => withSignature(await issuer.sign(claims(), { algorithm: 'ES256' }), new Uint8Array(64)),
    refused: 'signature-invalid',
  },
  {
    reason: 'an EdDSA signature of zeros',
    token: async () => withSignature(await issuer.sign(claims(), { algorithm: 'EdDSA' }), new Uint8Array(64)),
    refused: 'signature-invalid',
  },
  {
    reason: 'an ECDSA signature in the wrong notation',
    token: () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const input = `${encode({ alg: 'ES256', kid: 'ES256-1' })}.${encode(claims())}`;
      return `${input}.${rawSign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
    },
    refused: 'signature-invalid',
  },
  {
    reason: 'a payload that is not encoded (b64)',
    token: async () =>
      withHeader(await issuer.sign(claims()), { alg: 'RS256', kid: 'RS256-1', crit: ['b64'], b64: false }),
    refused: 'signature-invalid',
  },
  {
    reason: 'a header that names no algorithm',
    token: async () => withHeader(await issuer.sign(claims()), { kid: 'RS256-1' }),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a header that names several algorithms',
    token: async () => withHeader(await issuer.sign(claims()), { alg: ['RS256', 'none'], kid: 'RS256-1' }),
    refused: 'algorithm-refused',
  },
  {
    reason: 'a token for an audience of which ours is the beginning',
    token: () => issuer.sign(claims({ aud: `${AUDIENCE}.evil.example` })),
    refused: 'audience-mismatch',
  },
  {
    reason: 'a token for our audience in capitals',
    token: () => issuer.sign(claims({ aud: AUDIENCE.toUpperCase() })),
    refused: 'audience-mismatch',
  },
  {
    reason: 'a token whose audience is an object',
    token: () => issuer.sign(claims({ aud: { [AUDIENCE]: true } }) as never),
    refused: 'claim-invalid',
  },
  {
    reason: 'a token whose expiry is a list',
    token: () => signedByAttacker({ kid: 'RS256-1' }, claims({ exp: [9_999_999_999] })),
    refused: 'signature-invalid',
  },
  {
    reason: 'a token with several issuers',
    token: () => signedByAttacker({}, claims({ iss: [issuer.url] })),
    refused: 'none',
  },
  { reason: 'claims that are a list', token: () => signedByAttacker({ kid: 'RS256-1' }, [claims()]), refused: 'none' },
  { reason: 'claims that are no JSON', token: () => signedByAttacker({ kid: 'RS256-1' }, 'iss=a'), refused: 'none' },
];

test('there are at least thirty kinds', () => {
  expect(FORGERIES.length).toBeGreaterThanOrEqual(30);
});

describe.each([
  { asked: 'nobody can be asked about tokens', introspection: false },
  { asked: 'the provider can be asked about tokens', introspection: true },
])('where $asked', ({ introspection }) => {
  let gate: Gate;

  beforeAll(async () => {
    const asking = {
      introspectionUrl: issuer.introspectionUrl,
      clientId: INTROSPECTION_CLIENT.id,
      clientSecretFile: join(directory, 'secret'),
    };
    gate = await openGate([{ issuerUrl: issuer.url, ...(introspection ? asking : {}) }]);
  });

  afterAll(() => gate.close());

  /** Each attempt without what the provider said when it was asked. */
  function expectedReasons(refused: string): readonly string[] {
    if (refused === 'too-long') return ['token-too-long'];
    const asked = introspection ? ['p0 introspection'] : [];
    if (refused === 'none') return introspection ? asked : ['provider-unknown'];
    return [`p0 jwt ${refused}`, ...asked];
  }

  test.each(FORGERIES)('$reason is refused: $refused', async ({ token, refused }) => {
    const forged = await token();
    const answer = await gate.ask(forged);
    const reasons = gate.lastReasons().map((each) => each.replace(/^(p0 introspection) .*/, '$1'));
    expect({ ...answer, reasons }).toEqual({ ...REFUSED, reasons: expectedReasons(refused) });
    expect(visits).toEqual([]);
    for (const secret of [forged, ...forged.split('.').slice(1)]) {
      if (secret.length > 20) expect(gate.logs()).not.toContain(secret);
    }
  });
});

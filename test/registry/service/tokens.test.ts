// Which tokens are let in, and what happens while providers rotate their keys or are down. Forgeries are in forgeries.test.ts.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Issuer, type IssuerAlgorithm, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED, UNJUDGED } from './gate.ts';

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
async function checkRefused(token: string, reasons: readonly string[], answer: object = REFUSED): Promise<void> {
  expect({ ...(await gate.ask(token)), reasons: gate.lastReasons() }).toEqual({ ...answer, reasons });
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

test('a token of one configured provider that claims to be of another is refused', async () => {
  gate = await openGate([{ issuerUrl: issuer.url }, { issuerUrl: other.url }]);
  await checkRefused(await issuer.sign(claims({ iss: other.url })), ['p1 jwt signature-invalid']);
});

test('a rotated key is found at once, and tokens of the old key are refused', async () => {
  const rotating = await startIssuer();
  gate = await openGate([{ issuerUrl: rotating.url }]);
  const before = await rotating.token('jwt', AUDIENCE);
  await checkAccepted(before);
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
  expect(gate.outbound).toHaveLength(2);
  gate.advance(30_000);
  for (let count = 0; count < 5; count += 1) {
    await checkRefused(await issuer.sign(claims(), { header: { kid: `invented-${count}` } }), ['p0 jwt key-unknown']);
  }
  expect(gate.outbound).toHaveLength(3);
});

test.each(['JWT', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/At+Jwt', undefined])(
  'a token of the type %s is accepted',
  async (typ) => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    await checkAccepted(await issuer.sign(claims(), { header: typ === undefined ? {} : { typ } }));
  },
);

test.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'at+jwt2', 'application/jwt', ''])(
  'a token of the type %s is refused, and its provider is not asked about it either',
  async (typ) => {
    gate = await openGate([{ issuerUrl: issuer.url, introspectionUrl: issuer.introspectionUrl }]);
    await checkRefused(await issuer.sign(claims(), { header: { typ } }), [
      'p0 jwt type-refused',
      'p0 introspection type-refused',
    ]);
    expect(gate.outbound).toEqual([]);
  },
);

test('a type that the provider is known to use is accepted of that provider alone', async () => {
  gate = await openGate([{ issuerUrl: issuer.url, tokenTypes: ['vnd.example+jwt'] }, { issuerUrl: other.url }]);
  const header = { typ: 'VND.Example+jwt' };
  await checkAccepted(await issuer.sign(claims(), { header }));
  await checkAccepted(await issuer.sign(claims(), { header: { typ: 'at+jwt' } }));
  await checkRefused(await other.sign(claims({ iss: other.url }), { header }), ['p1 jwt type-refused']);
});

test.each([{ cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }, { cnf: { 'x5t#S256': 'x' } }, { cnf: {} }])(
  'a token that is bound to a proof (%j) is refused: nobody checks the proof',
  async (bound) => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    await checkRefused(await issuer.sign(claims(bound)), ['p0 jwt token-bound']);
  },
);

test('an unknown key id is not called invalid while the keys cannot be fetched, and refused once they can', async () => {
  const failing = await startIssuer();
  gate = await openGate([{ issuerUrl: failing.url }]);
  await checkAccepted(await failing.token('jwt', AUDIENCE));
  const signed = await failing.sign(claims({ iss: failing.url }), { header: { kid: 'next' } });
  await failing.stop();
  await checkRefused(signed, ['p0 jwt keys-unavailable'], UNJUDGED);
  const asked = gate.outbound.length;
  await checkRefused(signed, ['p0 jwt keys-unavailable'], UNJUDGED);
  expect(gate.outbound).toHaveLength(asked);
  await failing.resume();
  gate.advance(1_000);
  await checkRefused(signed, ['p0 jwt key-unknown']);
  await failing.close();
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
  await checkRefused(lasting, ['p0 jwt keys-unavailable'], UNJUDGED);
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
  await checkRefused(lost, ['p0 jwt keys-unavailable'], UNJUDGED);
  await checkRefused(lost, ['p0 jwt keys-unavailable'], UNJUDGED);
  expect(gate.outbound).toHaveLength(1);
  await checkAccepted(await other.token('jwt', AUDIENCE));
  gate.advance(1_000);
  await checkRefused(lost, ['p0 jwt keys-unavailable'], UNJUDGED);
  gate.advance(1_000);
  await checkRefused(lost, ['p0 jwt keys-unavailable'], UNJUDGED);
  expect(gate.outbound.filter((url) => url.startsWith(down.url))).toHaveLength(2);
  await down.close();
});

test('a discovery document that names another issuer is not believed', async () => {
  const alias = issuer.url.replace('127.0.0.1', 'localhost');
  gate = await openGate([{ issuerUrl: alias }]);
  await checkRefused(await issuer.sign(claims({ iss: alias })), ['p0 jwt keys-unavailable'], UNJUDGED);
  expect(gate.logs()).toContain('provider-issuer-mismatch');
});

test('a provider at a private address is not asked unless that is allowed', async () => {
  gate = await openGate([{ issuerUrl: issuer.url, allowPrivateIP: false }]);
  await checkRefused(await issuer.token('jwt', AUDIENCE), ['p0 jwt keys-unavailable'], UNJUDGED);
  expect(gate.logs()).toContain('outbound-refused-address');
  expect(gate.logs()).toContain('allowPrivateIP can allow it');
});

test('a key that comes while the keys are being fetched is found', async () => {
  const rotating = await startIssuer();
  gate = await openGate([{ issuerUrl: rotating.url }]);
  const before = await rotating.token('jwt', AUDIENCE);
  const fetching = gate.ask(before);
  await rotating.rotateKeys();
  const [first, ...others] = await Promise.all([
    fetching,
    ...Array.from({ length: 5 }, async () => gate.ask(await rotating.token('jwt', AUDIENCE))),
  ]);
  // Whether the first one still met the old keys is a matter of luck; the others must not suffer for it.
  expect([401, 404]).toContain(first.status);
  expect(others.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  await rotating.close();
});

test('a verified token is accepted without another look until it expires or the provider has other keys', async () => {
  const rotating = await startIssuer();
  gate = await openGate([{ issuerUrl: rotating.url }]);
  const lasting = await rotating.sign({ iss: rotating.url, aud: AUDIENCE, exp: seconds(7200) });
  const short = await rotating.sign({ iss: rotating.url, aud: AUDIENCE, exp: seconds(60) });
  await checkAccepted(lasting);
  await checkAccepted(short);
  gate.advance(60_000);
  await checkAccepted(lasting);
  await checkRefused(short, ['p0 jwt token-expired']);
  await rotating.rotateKeys();
  await checkAccepted(lasting);
  await checkAccepted(await rotating.token('jwt', AUDIENCE));
  await checkRefused(lasting, ['p0 jwt key-unknown']);
  await rotating.close();
});

test('keys that were withdrawn are noticed although every token that comes was verified before', async () => {
  const rotating = await startIssuer();
  gate = await openGate([{ issuerUrl: rotating.url }]);
  const lasting = await rotating.sign({ iss: rotating.url, aud: AUDIENCE, exp: seconds(7200) });
  await checkAccepted(lasting);
  await rotating.rotateKeys();
  gate.advance(10 * 60_000);
  await checkRefused(lasting, ['p0 jwt key-unknown']);
  await rotating.close();
});

test.each([
  { reason: 'goes ahead', skewMs: -600_000, claim: () => ({ nbf: seconds(-300) }), refused: 'token-not-yet-valid' },
  { reason: 'is late', skewMs: 600_000, claim: () => ({ exp: seconds(300) }), refused: 'token-expired' },
])('where the clock of the provider $reason there is no leeway', async ({ skewMs, claim, refused }) => {
  gate = await openGate([{ issuerUrl: issuer.url }]);
  gate.advance(skewMs);
  await checkRefused(await issuer.sign(claims(claim())), [`p0 jwt ${refused}`]);
});

// Tests grants with assertions of a trusted issuer (RFC 7523), and attacks on them. In one file, because nearly all
// tests share one server, its trusted issuer and the function that redeems an assertion.

import { decodeJwt, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthorizationServer } from '#gateway/issuer/issuer.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { configOf, oidcTo, openDirect, RESOURCE } from './direct.ts';
import {
  BEARER,
  DELEGATE,
  DELEGATE_CLIENT,
  openTrusted,
  type TrustedBlock,
  type TrustedWorld,
  trustedBlock,
  WORKLOAD,
} from './trusted.ts';
import type { Answer, AuthServer } from './world.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SECOND = 'https://weather.example.com/other';

function openBearer(more: Partial<TrustedBlock['jwt_bearer_grant'] & object> = {}, auth: Partial<AuthServer> = {}) {
  return openTrusted(
    (other) => ({
      allowed_audiences: [RESOURCE, SECOND],
      trusted_issuers: [trustedBlock(other, { jwt_bearer_grant: { ...BEARER, ...more } })],
      ...auth,
    }),
    ({ issuer }) => ({ aud: `${issuer}/oauth/token` }),
  );
}

let world: TrustedWorld;
let stranger: Issuer;
beforeAll(async () => {
  [world, stranger] = await Promise.all([openBearer(), startIssuer()]);
});
afterAll(() => Promise.all([world.close(), stranger.close()]));

function redeem(assertion: string, more: Readonly<Record<string, string>> = {}, at = world): Promise<Answer> {
  return at.token({ grant_type: GRANT, assertion, resource: RESOURCE, ...more });
}

const now = () => Math.floor(Date.now() / 1000);

describe('an assertion of a trusted issuer', () => {
  it('leads to a token for its subject and resource until the assertion expires, without scopes and refresh token', async () => {
    const { status, body } = await redeem(await world.sign());
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    expect(body.expires_in).toBeLessThanOrEqual(60);
    const claims = decodeJwt(String(body.access_token));
    expect(claims).toMatchObject({
      iss: world.issuer.issuer,
      sub: `${world.other.url}#${WORKLOAD}`,
      aud: RESOURCE,
      tsid: null,
      client_id: expect.stringMatching(/^urn:skep:assertion:[0-9a-f]{64}$/),
    });
    expect(claims.scope).toBeUndefined();
    expect(Number(claims.exp) - Number(claims.iat)).toBe(body.expires_in);
    expect(world.issuer.log()).toContain('issuer-token-exchanged');
  });

  it('leads to a token that does not outlive other access tokens', async () => {
    const { body } = await redeem(await world.sign({ exp: now() + 290 }));
    expect(body.expires_in).toBeGreaterThan(280);
    const short = await openBearer(
      {},
      { token_lifespans: { access_token_lifespan: '1m', refresh_token_lifespan: '1h', auth_code_lifespan: '1m' } },
    );
    const answer = await redeem(await short.sign({ exp: now() + 290 }), {}, short);
    expect(answer.body.expires_in).toBe(60);
    await short.close();
  });

  it('may also contain other audiences and its type', async () => {
    const aud = ['https://other.example', `${world.issuer.issuer}/oauth/token`];
    expect((await redeem(await world.sign({ aud }, { header: { typ: 'JWT' } }))).status).toBe(200);
  });

  it('is accepted for the configured audiences', async () => {
    const named = await openBearer({ accepted_audiences: ['https://auth.example.com', 'https://old.example.com'] });
    const given = (aud: string) => named.sign({ aud }).then((assertion) => redeem(assertion, {}, named));
    expect((await given('https://old.example.com')).status).toBe(200);
    expect((await given(`${named.issuer.issuer}/oauth/token`)).body.error).toBe('invalid_grant');
    await named.close();
  });

  it('is announced in the metadata, if an issuer with this grant is configured', async () => {
    const at = async (issuer: string) =>
      JSON.parse(await (await fetch(`${issuer}/.well-known/openid-configuration`)).text()).grant_types_supported;
    expect(await at(world.issuer.issuer)).toContain(GRANT);
    const without = await openTrusted(
      () => ({}),
      () => ({}),
    );
    expect(await at(without.issuer.issuer)).not.toContain(GRANT);
    expect((await redeem(await without.sign(), {}, without)).status).toBe(400);
    await without.close();
  });

  it('is accepted after a key rotation of the issuer, but only with the new keys', async () => {
    const rotating = await openBearer();
    const old = await rotating.sign();
    expect((await redeem(await rotating.sign(), {}, rotating)).status).toBe(200);
    await rotating.other.rotateKeys();
    expect((await redeem(await rotating.sign(), {}, rotating)).status).toBe(200);
    expect((await redeem(old, {}, rotating)).body.error).toBe('invalid_grant');
    await rotating.close();
  });
});

interface Attack {
  readonly reason: string;
  readonly claims?: () => JWTPayload;
  readonly header?: object;
  readonly error?: string;
  readonly form?: Readonly<Record<string, string>>;
}

describe('an assertion is refused', () => {
  it.each<Attack>([
    { reason: 'for another audience', claims: () => ({ aud: 'https://other.example' }) },
    { reason: 'for the resource', claims: () => ({ aud: RESOURCE }) },
    { reason: 'for the issuer, which is not accepted', claims: () => ({ aud: world.issuer.issuer }) },
    { reason: 'without an audience', claims: () => ({ aud: undefined }) },
    { reason: 'of another issuer with the same keys', claims: () => ({ iss: 'https://other.example' }) },
    { reason: 'of an issuer with a slash more', claims: () => ({ iss: `${world.other.url}/` }) },
    { reason: 'without an issuer', claims: () => ({ iss: undefined }) },
    { reason: 'that has expired', claims: () => ({ iat: now() - 120, exp: now() - 1 }) },
    { reason: 'without an end', claims: () => ({ exp: undefined }) },
    { reason: 'that is not valid yet', claims: () => ({ nbf: now() + 120 }) },
    { reason: 'without a beginning', claims: () => ({ iat: undefined }) },
    { reason: 'from the future', claims: () => ({ iat: now() + 120, exp: now() + 180 }) },
    { reason: 'that is good for too long', claims: () => ({ exp: now() + 301 + 1 }) },
    { reason: 'of a subject without a binding', claims: () => ({ sub: 'somebody' }) },
    { reason: 'of a subject that only begins alike', claims: () => ({ sub: `${WORKLOAD}2` }) },
    { reason: 'without a subject', claims: () => ({ sub: undefined }) },
    { reason: 'with an id that is not a text', claims: () => ({ jti: 7 as unknown as string }) },
    { reason: 'that is bound to a key', claims: () => ({ cnf: { jkt: 'x' } }) },
    { reason: 'that is an access token', header: { typ: 'at+jwt' } },
    { reason: 'that is an ID-JAG, which needs a client', header: { typ: 'oauth-id-jag+jwt' } },
    { reason: 'that is a logout token', header: { typ: 'logout+jwt' } },
    { reason: 'with an unknown key id', header: { kid: 'unknown' } },
    { reason: 'for a resource that the subject may not have', form: { resource: SECOND }, error: 'invalid_target' },
    { reason: 'for an unknown resource', form: { resource: 'https://x.example' }, error: 'invalid_target' },
    { reason: 'for no resource', form: { resource: '' }, error: 'invalid_request' },
    { reason: 'that is missing', form: { assertion: '' }, error: 'invalid_request' },
    { reason: 'that is not a JWT', form: { assertion: 'a.b.c' } },
    { reason: 'with a secret of a client', form: { client_id: 'x', client_secret: 'y' }, error: 'invalid_request' },
  ])('$reason', async ({ claims, header, form, error = 'invalid_grant' }) => {
    const assertion = await world.sign(claims?.(), { header });
    expect(await redeem(assertion, form)).toMatchObject({ status: 400, body: { error } });
  });

  it('with credentials in the header, for two resources, and if it is too long', async () => {
    const assertion = await world.sign();
    const form = { grant_type: GRANT, assertion, resource: RESOURCE };
    const basic = { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
    expect((await world.token(form, basic)).body.error).toBe('invalid_request');
    const twice = `${new URLSearchParams(form)}&${new URLSearchParams({ resource: SECOND })}`;
    expect((await world.token(twice)).body.error).toBe('invalid_request');
    expect((await redeem(await world.sign({ padding: 'x'.repeat(17_000) }))).body.error).toBe('invalid_grant');
    expect((await redeem(assertion)).status).toBe(200);
  });

  it('with alg none, an HMAC with the public key, another signature, or unknown keys', async () => {
    const [header, payload, signature] = (await world.sign()).split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const kid = JSON.parse(Buffer.from(header ?? '', 'base64url').toString()).kid;
    const [forged, claims] = [await stranger.sign({ ...decodeJwt(await world.sign()) }), decodeJwt(await world.sign())];
    for (const assertion of [
      `${encoded({ alg: 'none' })}.${payload}.`,
      `${encoded({ alg: 'none', kid })}.${payload}.${signature}`,
      `${encoded({ alg: 'HS256', kid })}.${payload}.${signature}`,
      `${header}.${encoded({ ...claims, sub: 'admin' })}.${signature}`,
      forged,
    ]) {
      expect(await redeem(assertion)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
  });

  it('at its second use, with and without an id, also with another signature', async () => {
    const assertion = await world.sign();
    expect((await redeem(assertion)).status).toBe(200);
    expect((await redeem(assertion)).body.error).toBe('invalid_grant');
    const { jti } = decodeJwt(assertion);
    expect((await redeem(await world.sign({ jti }))).body.error).toBe('invalid_grant');

    const without = await world.sign({ jti: undefined }, { algorithm: 'ES256' });
    expect((await redeem(without)).status).toBe(200);
    expect((await redeem(without)).body.error).toBe('invalid_grant');
    expect((await redeem(mirrored(without))).body.error).toBe('invalid_grant');
  });

  it('once, if it is used twice at the same time', async () => {
    const assertion = await world.sign();
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(assertion)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  });

  it('at its second use at a replica whose clock is half a minute behind', async () => {
    const [start, issuer] = [Date.now(), 'https://weather.example.com'];
    let elapsed = 0;
    const store = createMemoryStore({ monotonic: () => elapsed });
    const config = {
      ...configOf(issuer, [oidcTo(issuer, world.provider)]),
      trusted_issuers: [trustedBlock(world.other, { jwt_bearer_grant: BEARER })],
    };
    const keys = Buffer.from(JSON.stringify({ keys: [world.other.publicKey('RS256')] }));
    const replicaAt = (skewMs: number) =>
      createAuthorizationServer(
        {
          fetch: async () => ({ status: 200, headers: {}, body: keys }),
          store,
          clock: { ...proxyClock, now: () => start + elapsed + skewMs },
          random: proxyClock.random,
          files: createWatchedFiles(),
          environment: {},
          notify: () => undefined,
        },
        issuerSettings(config, RESOURCE),
        () => undefined,
      );
    const assertion = await world.sign({ aud: `${issuer}/oauth/token` }, { algorithm: 'RS256' });
    const body = new URLSearchParams({ grant_type: GRANT, assertion, resource: RESOURCE }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = { method: 'POST', path: '/oauth/token', query: new URLSearchParams(), headers, body, address: '' };
    expect((await replicaAt(0).handle(request)).status).toBe(200);
    elapsed = 65_000;
    expect((await replicaAt(-30_000).handle(request)).body).toContain('was used before');
  });

  it('with 503 while the keys are unreachable, but not if the issuer is unknown', async () => {
    const lonely = await openBearer();
    const assertion = await lonely.sign();
    await lonely.other.stop();
    expect(await redeem(assertion, {}, lonely)).toMatchObject({
      status: 503,
      body: { error: 'temporarily_unavailable' },
    });
    expect(lonely.issuer.log()).toContain('issuer-trusted-unavailable');
    const unknown = await stranger.sign({ iss: stranger.url, aud: lonely.issuer.issuer, sub: WORKLOAD });
    expect((await redeem(unknown, {}, lonely)).body.error).toBe('invalid_grant');
    expect(stranger.requests.size).toBe(0);
    await lonely.close();
  });

  it('if its keys are at a private address that is not permitted', async () => {
    const guarded = await openTrusted(
      (other) => ({
        trusted_issuers: [trustedBlock(other, { allow_private_ips: false, jwt_bearer_grant: BEARER })],
      }),
      ({ issuer }) => ({ aud: `${issuer}/oauth/token` }),
    );
    expect((await redeem(await guarded.sign(), {}, guarded)).status).toBe(503);
    expect(guarded.other.requests.size).toBe(0);
    await guarded.close();
  });
});

/** Returns the JWT with the other valid ECDSA signature of its content. */
function mirrored(jwt: string): string {
  const [header, payload, signature = ''] = jwt.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const other = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
  return `${header}.${payload}.${Buffer.concat([bytes.subarray(0, 32), other]).toString('base64url')}`;
}

describe('settings of a trusted issuer prevent the start', () => {
  const bearer = { jwt_bearer_grant: BEARER };
  const block = { issuer_url: 'https://other.example', ...bearer };
  const ISSUER = 'https://login.example.com';
  const HOST_AUDIENCE = 'urn:weather#tools';
  const EXCHANGED = { allowed_actors: ['app'], allowed_delegate_clients: [DELEGATE.id] };
  it.each<{ reason: string; blocks: readonly TrustedBlock[] }>([
    { reason: 'http', blocks: [{ ...block, issuer_url: 'http://other.example' }] },
    { reason: 'http on loopback', blocks: [{ ...block, issuer_url: 'http://127.0.0.1:1' }] },
    { reason: 'keys over http', blocks: [{ ...block, jwks_url: 'http://other.example/jwks' }] },
    { reason: 'a private address that the issuer chooses', blocks: [{ ...block, allow_private_ips: true }] },
    { reason: 'the same issuer twice', blocks: [block, block] },
    { reason: 'nothing that is accepted', blocks: [{ issuer_url: 'https://other.example' }] },
    { reason: 'an age of nothing', blocks: [{ ...block, jwt_bearer_grant: { ...BEARER, max_assertion_age: '0s' } }] },
    {
      reason: 'a resource as the audience of assertions',
      blocks: [{ ...block, jwt_bearer_grant: { ...BEARER, accepted_audiences: [RESOURCE] } }],
    },
    {
      reason: 'an audience of the host as the audience of assertions',
      blocks: [{ ...block, jwt_bearer_grant: { ...BEARER, accepted_audiences: [HOST_AUDIENCE] } }],
    },
    {
      reason: 'an audience both of assertions and of tokens that are exchanged',
      blocks: [
        {
          ...block,
          ...EXCHANGED,
          expected_audience: 'https://auth.example.com',
          jwt_bearer_grant: {
            ...BEARER,
            accepted_audiences: ['https://other.example.com', 'https://auth.example.com/'],
          },
        },
      ],
    },
    {
      reason: 'the token endpoint as the audience of tokens that are exchanged',
      blocks: [{ ...block, ...EXCHANGED, expected_audience: `${ISSUER}/oauth/token` }],
    },
    {
      reason: 'a resource that the server does not know',
      blocks: [
        {
          ...block,
          jwt_bearer_grant: {
            ...BEARER,
            subject_bindings: [{ subject: 'x', allowed_resources: ['https://x.example'] }],
          },
        },
      ],
    },
  ])('$reason', async ({ blocks }) => {
    const opened = openDirect({
      config: (at) => ({
        ...configOf(at, [oidcTo(at, { url: at } as never)]),
        issuer: ISSUER,
        allowed_audiences: [RESOURCE, HOST_AUDIENCE],
        scopes_supported: DELEGATE_CLIENT.scopes,
        delegate_clients: [DELEGATE_CLIENT],
        trusted_issuers: blocks.map((each) => ({ ...each })),
      }),
      environment: { DELEGATE_SECRET: DELEGATE.secret },
    });
    const message = expect.stringMatching(/^\/trusted_issuers\//);
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid', message });
  });
});

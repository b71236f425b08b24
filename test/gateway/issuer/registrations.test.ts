// Tests the scopes and secrets of clients that register.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, type DirectIssuer, oidcTo, openDirect } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { type AuthServer, authorizeUrl, newPkce, post, redeem, refresh, register, tokensOf } from './world.ts';

let provider: RecordingProvider;
beforeAll(async () => {
  provider = await startRecordingProvider();
});
afterAll(() => provider.close());

async function withIssuer<T>(more: Partial<AuthServer>, use: (issuer: DirectIssuer) => Promise<T>): Promise<T> {
  const issuer = await openDirect({ config: (at) => ({ ...configOf(at, [oidcTo(at, provider)]), ...more }) });
  try {
    return await use(issuer);
  } finally {
    await issuer.close();
  }
}

describe('scopes', () => {
  const scopes = { scopes_supported: ['openid', 'weather', 'storm'] };
  const limited = { ...scopes, baseline_client_scopes: ['openid'] };

  async function scopesOf(issuer: DirectIssuer, metadata: object, scope?: string) {
    const { body } = await register(issuer, metadata);
    const [client, pkce] = [String(body.client_id), newPkce()];
    const { url } = await newPerson().visit(authorizeUrl(issuer, client, pkce, { scope }));
    const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
    const again = await refresh(issuer, client, tokens.refresh_token ?? '', { scope: 'storm' });
    return { registered: body.scope, granted: tokens.scope, more: again.body.error };
  }

  it('are limited by the registration and the baseline, if a baseline is configured', async () => {
    const asked = 'storm openid weather';
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'weather none' }, asked));
    expect(found).toEqual({ registered: 'openid weather', granted: 'openid weather', more: 'invalid_scope' });
  });

  it('are the registered scopes if a request contains none of them', async () => {
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'weather' }, 'storm'));
    expect(found.granted).toBe('openid weather');
  });

  it('are the baseline for a client that registers only unknown scopes', async () => {
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'none' }));
    expect(found.granted).toBe('openid');
  });

  it('are not limited for a client that registers without scopes, or without a baseline', async () => {
    const all = 'openid weather storm';
    const open = await withIssuer(limited, (issuer) => scopesOf(issuer, {}));
    expect(open).toMatchObject({ registered: all, granted: all });
    const free = await withIssuer(scopes, (issuer) => scopesOf(issuer, { scope: 'weather' }));
    expect(free).toMatchObject({ registered: undefined, granted: all });
  });

  it('in a baseline that the server does not support prevent the start', async () => {
    const opened = withIssuer({ ...limited, baseline_client_scopes: ['mail'] }, async () => undefined);
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});

describe('a secret', () => {
  const REDIRECT = 'https://app.example.com/back';
  const allowed = {
    allow_confidential_client_registration: true,
    insecure_allow_confidential_over_loopback_http: true,
  };
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });

  function registerFor(issuer: DirectIssuer, method: string, more: object = {}) {
    return register(issuer, { redirect_uris: [REDIRECT], token_endpoint_auth_method: method, ...more });
  }

  /** Logs in. Returns a function that redeems the code. */
  async function codeFor(issuer: DirectIssuer, client: string) {
    const pkce = newPkce();
    const url = authorizeUrl(issuer, client, pkce, { redirect_uri: REDIRECT });
    const place = await newPerson({ client: 'https://app.example.com/' }).visit(url);
    const code = place.url.searchParams.get('code') ?? `none: ${place.url}`;
    const form = { grant_type: 'authorization_code', code, code_verifier: pkce.verifier, redirect_uri: REDIRECT };
    return (more: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
      post(`${issuer.issuer}/oauth/token`, { ...form, ...more }, headers);
  }

  it('is issued once, and required in the registered way for codes, refresh tokens and revocation', async () => {
    await withIssuer(allowed, async (issuer) => {
      const { status, body, headers } = await registerFor(issuer, 'client_secret_basic');
      expect(status).toBe(201);
      expect(body).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic', client_secret_expires_at: 0 });
      expect(headers.get('cache-control')).toBe('no-store');
      const [id, secret] = [String(body.client_id), String(body.client_secret)];
      expect(secret.length).toBeGreaterThan(42);
      const redeemCode = await codeFor(issuer, id);

      const without = await redeemCode({ client_id: id });
      expect(without).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      const wrong = await redeemCode({}, basic(id, `${secret.slice(0, -1)}-`));
      expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      expect(wrong.headers.get('www-authenticate')).toContain('Basic');
      expect((await redeemCode({ client_id: id, client_secret: secret })).status).toBe(401);
      for (const [more, headers] of [
        [{ client_secret: secret }, basic(id, secret)],
        [{ client_assertion: 'a.b.c' }, basic(id, secret)],
        [{ client_assertion: 'a.b.c', client_secret: secret }, {}],
      ] as const) {
        const twice = await redeemCode({ ...more, client_id: id }, headers);
        expect(twice).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
      }
      expect((await redeemCode({ client_id: id, client_assertion: 'a.b.c' })).status).toBe(401);
      expect((await redeemCode({ client_id: 'another' }, basic(id, secret))).status).toBe(401);
      expect((await redeemCode({}, { authorization: `Bearer ${secret}` })).status).toBe(401);

      const tokens = tokensOf(await redeemCode({ client_id: id }, basic(id, secret)));
      const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
      expect((await refresh(issuer, id, again.refresh_token)).status).toBe(401);
      const next = tokensOf(await post(`${issuer.issuer}/oauth/token`, again, basic(id, secret)));
      const revocation = { token: next.refresh_token ?? '' };
      const revoke = (headers: Readonly<Record<string, string>>) =>
        post(`${issuer.issuer}/oauth/revoke`, { ...revocation, client_id: id }, headers);
      expect((await revoke({})).status).toBe(401);
      expect((await revoke(basic(id, secret))).status).toBe(200);
      expect(issuer.log()).not.toContain(secret);
    });
  });

  it('of another client, or for a client without a secret, is refused', async () => {
    await withIssuer(allowed, async (issuer) => {
      const [one, other] = [
        await registerFor(issuer, 'client_secret_post'),
        await registerFor(issuer, 'client_secret_post'),
      ];
      const open = await registerFor(issuer, 'none');
      expect(open.body).not.toHaveProperty('client_secret');
      const secret = String(other.body.client_secret);
      for (const { body } of [one, open]) {
        const redeemCode = await codeFor(issuer, String(body.client_id));
        const answer = await redeemCode({ client_id: String(body.client_id), client_secret: secret });
        expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      }
      const redeemCode = await codeFor(issuer, String(one.body.client_id));
      const mine = { client_id: String(one.body.client_id), client_secret: String(one.body.client_secret) };
      expect((await redeemCode(mine)).status).toBe(200);
    });
  });

  it.each([
    ['on loopback', ['http://127.0.0.1/back']],
    ['on loopback with TLS', ['https://127.0.0.5/back']],
    ['on loopback by a mapped address', ['https://[::ffff:0.0.0.0]/back']],
    ['with a scheme of its own', ['com.example.app:/back']],
    ['on a site and on loopback', [REDIRECT, 'http://localhost/back']],
  ])('is not issued to a client %s', async (_what, redirects) => {
    const { status, body } = await withIssuer(allowed, (issuer) =>
      registerFor(issuer, 'client_secret_post', { redirect_uris: redirects }),
    );
    expect({ status, method: body.token_endpoint_auth_method }).toEqual({ status: 201, method: 'none' });
    expect(body).not.toHaveProperty('client_secret');
  });

  it('is issued to a client that requests none, if the settings contain its redirect URI', async () => {
    await withIssuer({ ...allowed, force_confidential_redirect_uris: [REDIRECT] }, async (issuer) => {
      const { body } = await registerFor(issuer, 'none');
      expect(body).toMatchObject({
        token_endpoint_auth_method: 'client_secret_post',
        client_secret: expect.any(String),
      });
      const other = await registerFor(issuer, 'none', { redirect_uris: [`${REDIRECT}/`] });
      expect(other.body.token_endpoint_auth_method).toBe('none');
      const mixed = await registerFor(issuer, 'none', { redirect_uris: [REDIRECT, 'http://localhost/back'] });
      expect(mixed).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
    });
  });

  it.each([
    'https://APP.example.com/back',
    'https://app.example.com:443/back',
    'https://app.example.com./back',
    'https://app.example.com/other/../back',
    'https://app.example.com/%62ack',
    'https://app.example.com/back?more',
  ])('is issued to a client with a redirect URI in the settings, in the form %s', async (uri) => {
    const { body } = await withIssuer({ ...allowed, force_confidential_redirect_uris: [REDIRECT] }, (issuer) =>
      registerFor(issuer, 'none', { redirect_uris: [uri] }),
    );
    expect(body.token_endpoint_auth_method).toBe('client_secret_post');
  });

  it('is announced in the metadata if clients can get a secret', async () => {
    const methodsOf = async ({ issuer }: DirectIssuer) => {
      const response = await fetch(`${issuer}/.well-known/oauth-authorization-server`);
      return ((await response.json()) as Record<string, unknown>).token_endpoint_auth_methods_supported;
    };
    expect(await withIssuer({}, methodsOf)).toEqual(['none', 'private_key_jwt']);
    const all = ['none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'];
    expect(await withIssuer(allowed, methodsOf)).toEqual(all);
  });

  it.each<[string, Partial<AuthServer>]>([
    ['over http', { allow_confidential_client_registration: true }],
    ['of redirect URIs that may not have one', { force_confidential_redirect_uris: [REDIRECT] }],
    ['of redirect URIs on loopback', { ...allowed, force_confidential_redirect_uris: ['https://localhost/back'] }],
  ])('%s prevents the start', async (_what, more) => {
    await expect(withIssuer(more, async () => undefined)).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});

// Tests the attacks of RFC 9700 and RFC 6819 on an authorization server, by section number, and the requirements that
// prevent them. In one file, because nearly all attacks are on the same server and its provider.

import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, type DirectIssuer, oidcTo, openDirect, RESOURCE } from './direct.ts';
import { newPerson, type Person, pendingOf } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newClient, newPkce, post, redeem, refresh, register, tokensOf } from './world.ts';

let provider: RecordingProvider;
let issuer: DirectIssuer;
beforeAll(async () => {
  provider = await startRecordingProvider();
  issuer = await openDirect({ config: (origin) => configOf(origin, [oidcTo(origin, provider)]) });
});
afterAll(async () => {
  await issuer.close();
  await provider.close();
});

const SITE = 'https://app.example.com/callback';

async function codeFor(person: Person = newPerson(), more: Readonly<Record<string, string>> = {}) {
  const [client, pkce] = [await newClient(issuer), newPkce()];
  const { url, text } = await person.visit(authorizeUrl(issuer, client, pkce, more));
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url} ${text}`);
  return { client, pkce, code };
}

async function loggedIn() {
  const { client, pkce, code } = await codeFor();
  return { client, tokens: tokensOf(await redeem(issuer, client, code, pkce)) };
}

describe('redirect URIs (RFC 9700 section 4.1)', () => {
  it.each([
    'https://app.example.com/callback/',
    'https://app.example.com/callback/..',
    'https://app.example.com/callbackx',
    'https://app.example.com/Callback',
    'https://APP.example.com/callback',
    'https://app.example.com:443/callback',
    'https://app.example.com:8443/callback',
    'https://app.example.com/callback?x=1',
    'https://app.example.com/callback#fragment',
    'https://app.example.com/%63allback',
    'https://user@app.example.com/callback',
    'https://app.example.com@evil.example/callback',
    'https://app.example.com.evil.example/callback',
    'https://evil.example/callback',
    'http://app.example.com/callback',
    'https://app.example.com\\@evil.example/callback',
    '//app.example.com/callback',
    'javascript:alert(1)',
    '',
  ])('%j differs from the registered URI and leads to a page instead of a redirect', async (uri) => {
    const client = await newClient(issuer, { redirect_uris: [SITE] });
    const place = await newPerson().visit(authorizeUrl(issuer, client, newPkce(), { redirect_uri: uri }));
    expect(place.status).toBe(400);
    expect(place.trail.length).toBe(1);
    expect(place.text).not.toContain('evil.example');
  });

  it('on loopback, only the port may differ (RFC 8252 section 7.3)', async () => {
    const client = await newClient(issuer, { redirect_uris: ['http://127.0.0.1/callback'] });
    const look = newPerson({ decision: 'look' });
    const status = async (uri: string) =>
      (await look.visit(authorizeUrl(issuer, client, newPkce(), { redirect_uri: uri }))).status;
    expect(await status('http://127.0.0.1:51234/callback')).toBe(200);
    for (const uri of [
      'http://127.0.0.1:51234/other',
      'http://localhost:51234/callback',
      'http://127.0.0.1:51234/callback?x=1',
      'http://127.0.0.1:51234@evil.example/callback',
      'http://user@127.0.0.1:51234/callback',
      'https://127.0.0.1:51234/callback',
      'http://127.0.0.1.evil.example/callback',
    ]) {
      expect([uri, await status(uri)]).toEqual([uri, 400]);
    }
  });

  it.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://app.example.com/callback'],
    ['https://app.example.com/callback#x'],
    ['https://user:password@app.example.com/callback'],
    ['/callback'],
    ['file:///etc/passwd'],
    ['search-ms:query=invoice&crumb=location:%5C%5Cevil.example%5Cshare'],
    ['ms-msdt:/id'],
    ['ms-settings://host'],
    ['intent://app'],
    ['mailto:a@app.example'],
    ['tel:110'],
    ['jar:https://app.example/x'],
    ['chrome://settings'],
    ['short:/path'],
    ['JNLP://host/app'],
    ['firefox://open-url?url=https://evil.example'],
    ['svn+ssh://host/repository'],
    ['app-prefs://root'],
    ['rdp://host'],
    ['x-apple.systempreferences:com'],
  ])('%s cannot be registered', async (uri) => {
    expect(await register(issuer, { redirect_uris: [uri] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    });
  });

  it.each(['com.example.app:/back', 'editor://vendor.plugin/back'])(
    'an error leads to %s only if the person consents',
    async (uri) => {
      const client = await newClient(issuer, { redirect_uris: [uri] });
      const url = authorizeUrl(issuer, client, newPkce(), { redirect_uri: uri, response_type: 'token' });
      const place = await newPerson({ client: uri }).visit(url);
      expect([place.status, place.trail.length]).toEqual([400, 1]);
      expect(place.text).toContain('Back to the app');
    },
  );

  it('an error leads to a site only if the person consents: no open redirector (section 4.11.2)', async () => {
    const client = await newClient(issuer, { redirect_uris: [SITE] });
    const url = authorizeUrl(issuer, client, newPkce(), { redirect_uri: SITE, response_type: 'token' });
    const place = await newPerson({ client: SITE }).visit(url);
    expect(place.status).toBe(400);
    expect(place.text).toContain('Back to the app');
    expect(place.text).toContain('error=unsupported_response_type');
  });
});

describe('registration (RFC 7591)', () => {
  it.each<[string, object, string]>([
    ['no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'too many',
      { redirect_uris: Array.from({ length: 11 }, (_, index) => `https://app.example.com/${index}`) },
      'invalid_redirect_uri',
    ],
    ['no code grant', { grant_types: ['refresh_token'] }, 'invalid_client_metadata'],
    ['tokens in the redirect', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['keys', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['a method without a text', { token_endpoint_auth_method: { toString: 1 } }, 'invalid_client_metadata'],
    ['a name without end', { client_name: 'x'.repeat(300) }, 'invalid_client_metadata'],
    ['another type of application', { application_type: 'robot' }, 'invalid_client_metadata'],
  ])('with %s is refused', async (_reason, metadata, error) => {
    expect(await register(issuer, metadata)).toMatchObject({ status: 400, body: { error } });
  });

  it.each<[string, object]>([
    ['a grant for devices', { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] }],
    ['tokens in the redirect too', { grant_types: ['authorization_code'], response_types: ['code', 'token'] }],
    [
      'members that are null',
      {
        grant_types: null,
        response_types: null,
        client_name: null,
        application_type: null,
        token_endpoint_auth_method: null,
      },
    ],
  ])('with %s registers only supported values, and returns them (section 3.2.1)', async (_what, metadata) => {
    const { status, body } = await register(issuer, metadata);
    expect(status).toBe(201);
    expect(body).toMatchObject({ grant_types: ['authorization_code'], response_types: ['code'] });
    expect(body.client_name).not.toBeNull();
  });

  it('leads to a public client, whatever was requested (section 3.2.1)', async () => {
    const { status, body, headers } = await register(issuer, { token_endpoint_auth_method: 'client_secret_basic' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      response_types: ['code'],
    });
    expect(body).not.toHaveProperty('client_secret');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is JSON within 64 kB', async () => {
    const url = `${issuer.issuer}/oauth/register`;
    expect((await post(url, 'redirect_uris=https://app.example.com')).status).toBe(400);
    expect((await post(url, '{', { 'content-type': 'application/json' })).status).toBe(400);
    expect((await post(url, '[]', { 'content-type': 'application/json' })).status).toBe(400);
    const large = await post(url, `{"client_name":"${'x'.repeat(70_000)}"}`, { 'content-type': 'application/json' });
    expect(large.status).toBe(413);
  });
});

describe('the authorization request', () => {
  it.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ['without a challenge: PKCE downgrade (RFC 9700 section 4.8)', { code_challenge: undefined }, 'invalid_request'],
    ['with the plain method (RFC 7636 section 7.2)', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a method, which would be plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['with a challenge that is not a digest', { code_challenge: 'short' }, 'invalid_request'],
    ['for a token in the redirect (RFC 9700 section 2.1.2)', { response_type: 'token' }, 'unsupported_response_type'],
    ['without a response type', { response_type: undefined }, 'unsupported_response_type'],
    ['with an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['with a request object', { request: 'eyJ' }, 'request_not_supported'],
    ['with a URL to fetch one from', { request_uri: 'https://evil.example/' }, 'request_uri_not_supported'],
    ['for another resource (RFC 8707 section 2)', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for a resource with a fragment', { resource: `${RESOURCE}#x` }, 'invalid_target'],
    ['with a state without end', { state: 'x'.repeat(5000) }, 'invalid_request'],
  ])('%s is refused', async (_reason, more, error) => {
    const { url } = await newPerson().visit(authorizeUrl(issuer, await newClient(issuer), newPkce(), more));
    expect(url.searchParams.get('error')).toBe(error);
    expect(url.searchParams.get('iss')).toBe(issuer.issuer);
    expect(url.searchParams.get('code')).toBeNull();
  });

  it.each(['client_id', 'redirect_uri', 'state', 'code_challenge', 'scope', 'response_type'])(
    'with two parameters %s is refused (RFC 6749 section 3.1)',
    async (name) => {
      const client = await newClient(issuer);
      const place = await newPerson().visit(
        `${authorizeUrl(issuer, client, newPkce(), { scope: 'openid' })}&${name}=again`,
      );
      expect([place.status === 400, place.url.searchParams.get('error') === 'invalid_request']).toContain(true);
      expect(place.url.searchParams.get('code')).toBeNull();
    },
  );

  it('with more than 50 parameters is refused with a page instead of a redirect', async () => {
    const many = Array.from({ length: 50 }, (_, i) => `&x${i}=1`).join('');
    const place = await newPerson().visit(`${authorizeUrl(issuer, await newClient(issuer), newPkce())}${many}`);
    expect(place.status).toBe(400);
    expect(place.text).toContain('there are more than 50 parameters');
  });

  it('accepts the resource with a trailing slash, as URLs of an origin are printed', async () => {
    const at = await openDirect({
      hostAudience: 'weather',
      config: (origin) => ({
        ...configOf(origin, [oidcTo(origin, provider)]),
        allowed_audiences: ['https://weather.example.com', 'weather'],
      }),
    });
    const [client, pkce] = [await newClient(at), newPkce()];
    const { url } = await newPerson().visit(
      authorizeUrl(at, client, pkce, { resource: 'https://weather.example.com/' }),
    );
    const { access_token: token } = tokensOf(await redeem(at, client, url.searchParams.get('code') ?? '', pkce));
    const { aud } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(aud).toEqual(['https://weather.example.com', 'weather']);
    await at.close();
  });
});

describe('a code', () => {
  it('that is used twice revokes the issued tokens (RFC 6749 section 4.1.2)', async () => {
    const { client, pkce, code } = await codeFor();
    const tokens = tokensOf(await redeem(issuer, client, code, pkce));
    expect(await redeem(issuer, client, code, pkce)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refresh(issuer, client, tokens.refresh_token ?? '')).status).toBe(400);
  });

  it('of one client is refused for another client (RFC 9700 section 4.5)', async () => {
    const { client, pkce, code } = await codeFor();
    expect((await redeem(issuer, await newClient(issuer), code, pkce)).status).toBe(400);
    expect((await redeem(issuer, client, code, pkce)).status).toBe(200);
  });

  it('that was injected into another login is refused without the verifier (RFC 9700 section 4.5.3)', async () => {
    const [victim, attacker] = [await codeFor(), await codeFor()];
    expect((await redeem(issuer, victim.client, victim.code, attacker.pkce)).status).toBe(400);
    expect((await redeem(issuer, victim.client, victim.code, { verifier: '', challenge: '' })).status).toBe(400);
    expect(
      (await redeem(issuer, victim.client, victim.code, { verifier: victim.pkce.challenge, challenge: '' })).status,
    ).toBe(400);
  });

  it('is accepted only for its redirect URI and its resource', async () => {
    const { client, pkce, code } = await codeFor();
    expect((await redeem(issuer, client, code, pkce, { redirect_uri: 'http://127.0.0.1:1/callback' })).status).toBe(
      400,
    );
    const other = await redeem(issuer, client, code, pkce, { resource: 'https://other.example/mcp' });
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });

  it('cannot be forged or changed, and is not accepted as a refresh token', async () => {
    const { client, pkce, code } = await codeFor();
    const changed = [
      code.replace('skc_', 'skr_'),
      `${code}A`,
      code.slice(0, -2),
      `${code.slice(0, 20)}${code[20] === 'A' ? 'B' : 'A'}${code.slice(21)}`,
      `skc_${Buffer.alloc(64).toString('base64url')}`,
      '',
    ];
    for (const each of changed) expect((await redeem(issuer, client, each, pkce)).status).toBe(400);
    expect((await refresh(issuer, client, code)).status).toBe(400);
    expect((await redeem(issuer, client, code, pkce)).status).toBe(200);
  });
});

describe('a refresh token', () => {
  it('of one client is refused for another client (RFC 9700 section 4.14)', async () => {
    const { client, tokens } = await loggedIn();
    expect((await refresh(issuer, await newClient(issuer), tokens.refresh_token ?? '')).status).toBe(400);
    expect((await refresh(issuer, client, tokens.refresh_token ?? '')).status).toBe(200);
  });

  it('is refused for another resource (RFC 8707 section 2.2)', async () => {
    const { client, tokens } = await loggedIn();
    const answer = await refresh(issuer, client, tokens.refresh_token ?? '', { resource: 'https://other.example/' });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });
});

describe('the token endpoint', () => {
  it.each<[string, string, Readonly<Record<string, string>>, number, string]>([
    ['a secret', 'grant_type=authorization_code&client_id=x&client_secret=y', {}, 401, 'invalid_client'],
    ['Basic', 'grant_type=authorization_code&client_id=x', { authorization: 'Basic eDp5' }, 401, 'invalid_client'],
    ['no client', 'grant_type=authorization_code', {}, 400, 'invalid_request'],
    ['a parameter twice', 'grant_type=a&grant_type=b&client_id=x', {}, 400, 'invalid_request'],
    [
      'more than 50 parameters',
      `grant_type=a&client_id=x&${Array.from({ length: 49 }, (_, i) => `x${i}`).join('&')}`,
      {},
      400,
      'invalid_request',
    ],
    ['JSON', '{}', { 'content-type': 'application/json' }, 400, 'invalid_request'],
  ])('with %s is refused', async (_reason, body, headers, status, error) => {
    const answer = await post(`${issuer.issuer}/oauth/token`, body, headers);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['password', 'client_credentials', 'implicit'])(
    'does not support the grant %s (RFC 9700 section 2.4)',
    async (grant) => {
      const form = { grant_type: grant, client_id: await newClient(issuer), username: 'a', password: 'b' };
      expect(await post(`${issuer.issuer}/oauth/token`, form)).toMatchObject({
        status: 400,
        body: { error: 'unsupported_grant_type' },
      });
    },
  );

  it('allows web pages of every origin, and the pages for people allow none', async () => {
    const origin = { origin: 'https://inspector.example' };
    const token = await fetch(`${issuer.issuer}/oauth/token`, { method: 'OPTIONS', headers: origin });
    expect([token.status, token.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    const page = await fetch(`${issuer.issuer}/oauth/authorize`, { headers: origin });
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
    expect((await fetch(`${issuer.issuer}/oauth/authorize`, { method: 'OPTIONS', headers: origin })).status).toBe(405);
  });
});

describe('an attacker with another browser or site (RFC 9700 section 4.7)', () => {
  async function atProvider(person: Person): Promise<URL> {
    const { url } = await person.visit(authorizeUrl(issuer, await newClient(issuer), newPkce()));
    return url;
  }

  async function callbackOf(upstream: URL): Promise<string> {
    return (await fetch(upstream, { redirect: 'manual' })).headers.get('location') ?? '';
  }

  it('cannot complete a login that began in another browser', async () => {
    const callback = await callbackOf(await atProvider(newPerson({ client: `${provider.url}/` })));
    const victim = await newPerson().visit(callback);
    expect(victim.status).toBe(400);
    expect(victim.text).toContain('began in another browser');
    const withOwnCookie = newPerson({ client: `${provider.url}/` });
    const other = await callbackOf(await atProvider(newPerson({ client: `${provider.url}/` })));
    await atProvider(withOwnCookie);
    expect((await withOwnCookie.visit(other)).status).toBe(400);
  });

  it('cannot use a state twice, invent one, or leave it out', async () => {
    const person = newPerson({ client: `${provider.url}/` });
    const callback = await callbackOf(await atProvider(person));
    const back = newPerson();
    for (const [host, jar] of person.cookies) (back.cookies as Map<string, ReadonlyMap<string, string>>).set(host, jar);
    expect((await back.visit(callback)).status).toBe(0);
    expect((await back.visit(callback)).status).toBe(400);
    expect((await back.visit(`${issuer.issuer}/oauth/callback?code=code-1&state=invented`)).status).toBe(400);
    expect((await back.visit(`${issuer.issuer}/oauth/callback?code=code-1`)).status).toBe(400);
  });

  async function consentForm(person: Person) {
    const { text } = await person.visit(authorizeUrl(issuer, await newClient(issuer), newPkce()));
    const cookies = person.cookies.get(new URL(issuer.issuer).host) ?? new Map<string, string>();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { form: { pending: pendingOf(text), decision: 'allow' }, cookie };
  }

  it('cannot submit the consent page: from another browser or site, twice, or without the form', async () => {
    const url = `${issuer.issuer}/oauth/consent`;
    const { origin } = new URL(issuer.issuer);
    const first = await consentForm(newPerson({ decision: 'look' }));
    expect((await post(url, first.form)).status).toBe(400);
    const second = await consentForm(newPerson({ decision: 'look' }));
    expect((await post(url, second.form, { cookie: second.cookie, origin: 'https://evil.example' })).status).toBe(400);
    const third = await consentForm(newPerson({ decision: 'look' }));
    expect((await post(url, { ...third.form, pending: 'invented' }, { cookie: third.cookie, origin })).status).toBe(
      400,
    );
    expect((await post(url, third.form, { cookie: third.cookie, origin })).status).toBe(200);
    expect((await post(url, third.form, { cookie: third.cookie, origin })).status).toBe(400);
    expect((await fetch(url)).status).toBe(405);
  });

  it('cannot disconnect the apps of a person from another site', async () => {
    const { client } = await loggedIn();
    const answer = await post(`${issuer.issuer}/oauth/apps`, { client }, { origin: 'https://evil.example' });
    expect(answer.status).toBe(400);
  });
});

describe('pages', () => {
  it.each(['/oauth/authorize', '/oauth/callback', '/oauth/apps'])(
    '%s forbids frames, scripts and caching (RFC 9700 section 4.16)',
    async (path) => {
      const { headers } = await fetch(`${issuer.issuer}${path}`);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).toContain("form-action 'self'");
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
    },
  );

  it('show the name of a client as text, without control characters', async () => {
    const name = '<img src=x onerror=alert(1)>\u202Egnp.exe"\'';
    const client = await newClient(issuer, { client_name: name });
    const { text } = await newPerson({ decision: 'look' }).visit(authorizeUrl(issuer, client, newPkce()));
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202E');
    expect(text).toContain('[U+202E]gnp.exe');
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  it.each(['\u200B', '\u2028', '\u3164', '\u{E0041}', '\u2800', '\uFE0F', '\u00AD'])(
    'show the code point of an invisible character: %j',
    async (character) => {
      const client = await newClient(issuer, { client_name: `Good${character} app` });
      const { text } = await newPerson({ decision: 'look' }).visit(authorizeUrl(issuer, client, newPkce()));
      expect(text).not.toContain(character);
      expect(text).toContain(`Good[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}] app`);
    },
  );

  it('use cookies only for this host, which scripts cannot read', async () => {
    const secure = await openDirect({
      config: (origin) => ({ ...configOf(origin, [oidcTo(origin, provider)]), issuer: 'https://weather.example.com' }),
    });
    const { port } = new URL(secure.origin);
    const client = await newClient({ issuer: secure.origin });
    const { headers } = await newPerson({ decision: 'look' }).visit(
      authorizeUrl({ issuer: secure.origin }, client, newPkce()),
    );
    expect(Number(port)).toBeGreaterThan(0);
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-skep-browser-[0-9a-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    await secure.close();
  });
});

it('a provider that never responds ends the login in time', async () => {
  const deaf = createServer();
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  const address = deaf.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const at = await openDirect({ config: (origin) => configOf(origin, [oidcTo(origin, { ...provider, url })]) });
  const place = await newPerson().visit(authorizeUrl(at, await newClient(at), newPkce()));
  expect(place.url.searchParams.get('error')).toBe('temporarily_unavailable');
  await at.close();
  deaf.close();
}, 30_000);

// Tests logins with OpenID Connect and OAuth 2.0 providers, alone and in a chain, and which of their responses are
// accepted. In one file, because the tests share the providers, which are reset after each test.

import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPrivateAuthority } from '../../harness/private-authority.ts';
import { configOf, type DirectIssuer, oauth2To, oidcTo, openDirect } from './direct.ts';
import { newPerson, type Place } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newClient, newPkce, redeem, tokensOf } from './world.ts';

let provider: RecordingProvider;
let second: RecordingProvider;
const open: DirectIssuer[] = [];
beforeAll(async () => {
  [provider, second] = [await startRecordingProvider(), await startRecordingProvider()];
});
afterEach(async () => {
  for (const issuer of open.splice(0)) await issuer.close();
  for (const each of [provider, second]) Object.assign(each, { answers: {}, claims: {}, subject: 'ada' });
});
afterAll(async () => {
  await provider.close();
  await second.close();
});

async function openWith(upstreams: (origin: string) => Parameters<typeof configOf>[1]): Promise<DirectIssuer> {
  const issuer = await openDirect({
    config: (origin) => configOf(origin, upstreams(origin)),
    environment: { SECRET: 's3cret' },
  });
  open.push(issuer);
  return issuer;
}

async function logInAt(issuer: DirectIssuer) {
  const client = await newClient(issuer);
  const pkce = newPkce();
  const place = await newPerson().visit(authorizeUrl(issuer, client, pkce));
  const tokens = tokensOf(await redeem(issuer, client, codeIn(place), pkce));
  const claims = decodeJwt(tokens.access_token);
  const upstreamToken = (name?: string) =>
    issuer.open.upstreamToken({ key: 'x', claims: claims as Record<string, string> }, name);
  return { claims, upstreamToken, place };
}

function codeIn({ url, text }: Place): string {
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url} ${text}`);
  return code;
}

async function failureAt(issuer: DirectIssuer): Promise<string | null> {
  const place = await newPerson().visit(authorizeUrl(issuer, await newClient(issuer), newPkce()));
  return place.url.searchParams.get('error');
}

describe('a provider with a certificate of a private authority', () => {
  const authority = createPrivateAuthority('provider');
  let secure: RecordingProvider;
  beforeAll(async () => {
    secure = await startRecordingProvider(authority);
  });
  afterAll(async () => {
    await secure.close();
    authority.remove();
  });

  it.each([
    { speaks: 'OpenID Connect', upstream: oidcTo },
    { speaks: 'OAuth 2.0', upstream: oauth2To },
  ])('is trusted by its bundle alone: $speaks', async ({ upstream }) => {
    const trusting = await openWith((origin) => [{ ...upstream(origin, secure), ca_bundle_path: authority.file }]);
    const { upstreamToken } = await logInAt(trusting);
    expect(await upstreamToken()).toBe('access-of-ada-authorization_code');
    const other = await openWith((origin) => [upstream(origin, secure)]);
    expect(await failureAt(other)).toBe('temporarily_unavailable');
    expect(other.log()).toContain('no trusted TLS connection');
  });
});

describe('OAuth 2.0', () => {
  it('reads the person from the userinfo endpoint, and converts numbers to texts', async () => {
    const mapping = { subject_fields: ['uid', 'id'], name_fields: ['login'], email_fields: ['mail', 'email'] };
    const userinfo = {
      endpoint_url: `${provider.url}/user`,
      http_method: 'POST' as const,
      additional_headers: { 'X-Api': '3' },
      field_mapping: mapping,
    };
    const issuer = await openWith((origin) => [
      oauth2To(origin, provider, { userinfo, client_secret_env_var: 'SECRET' }),
    ]);
    const { claims, upstreamToken } = await logInAt(issuer);
    expect(claims).toMatchObject({ name: 'ada at the host', email: 'ada@mail.example' });
    expect(await upstreamToken()).toBe('access-of-ada-authorization_code');
    expect(provider.last('/user')).toMatchObject({
      method: 'POST',
      headers: { 'x-api': '3', authorization: 'Bearer access-of-ada-authorization_code' },
    });
    const form = provider.last('/token')?.form;
    expect(form?.get('client_secret')).toBe('s3cret');
    expect(form?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  });

  it.each([2 ** 53, 1e30, 1.5])('a person with the number %d, which is not exact, is not logged in', async (id) => {
    provider.answers = { '/user': () => ({ id, login: 'ada' }) };
    const userinfo = {
      endpoint_url: `${provider.url}/user`,
      http_method: 'GET' as const,
      field_mapping: { subject_fields: ['id', 'login'], name_fields: ['login'], email_fields: ['mail'] },
    };
    const issuer = await openWith((origin) => [oauth2To(origin, provider, { userinfo })]);
    expect(await failureAt(issuer)).toBe('server_error');
    expect(issuer.log()).toContain('its userinfo endpoint names no subject');
    provider.answers = { '/user': () => ({ id: 2 ** 53 - 1, login: 'ada' }) };
    await logInAt(issuer);
  });

  it('reads tokens at the paths of a mapping', async () => {
    const mapping = {
      access_token_path: 'data.0.token',
      scope_path: 'scope',
      refresh_token_path: 'data.0.again',
      expires_in_path: 'data.0.seconds',
    };
    provider.answers = { '/token': () => ({ data: [{ token: 'inner', again: 'more', seconds: 7200 }] }) };
    const issuer = await openWith((origin) => [oauth2To(origin, provider, { token_response_mapping: mapping })]);
    expect(await (await logInAt(issuer)).upstreamToken()).toBe('inner');
  });

  it.each([
    ['no lifetime', undefined],
    ['null', null],
    ['0', 0],
    ['an object without a text', { toString: 1, valueOf: 1 }],
  ])('a token with %s as its lifetime counts for the session', async (_what, seconds) => {
    provider.answers = {
      '/token': ({ access_token, token_type }) => ({ access_token, token_type, expires_in: seconds }),
    };
    const issuer = await openWith((origin) => [oauth2To(origin, provider)]);
    const { upstreamToken } = await logInAt(issuer);
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 3_600_000);
    try {
      expect(await upstreamToken()).toBe('access-of-ada-authorization_code');
    } finally {
      later.mockRestore();
    }
  });

  it('a response without a subject ends the login', async () => {
    provider.answers = { '/user': () => ({ name: 'nobody' }) };
    const issuer = await openWith((origin) => [oauth2To(origin, provider)]);
    expect(await failureAt(issuer)).toBe('server_error');
    expect(issuer.log()).toContain('names no subject');
  });
});

describe('OpenID Connect', () => {
  it('a claim is the user id if the userinfo endpoint returns the same sub', async () => {
    provider.claims = { oid: 'person-7' };
    provider.answers = { '/user': () => ({ sub: 'ada', id: 'other' }) };
    const userinfo_override = {
      endpoint_url: `${provider.url}/user`,
      http_method: 'GET' as const,
      field_mapping: { subject_fields: ['id'] },
    };
    const issuer = await openWith((origin) => [oidcTo(origin, provider, { subject_claim: 'oid', userinfo_override })]);
    await logInAt(issuer);
    provider.answers = { '/user': () => ({ sub: 'eve', id: 'ada' }) };
    expect(await failureAt(issuer)).toBe('server_error');
    expect(issuer.log()).toContain('names another subject than its id_token');
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['of another login', { nonce: 'another' }],
    ['for another client', { aud: 'another' }],
    ['of another issuer', { iss: 'https://login.example.org' }],
    ['with another authorized party', { azp: 'another' }],
    ['that has expired', { exp: 1 }],
  ])('an id_token %s is refused', async (_reason, claims) => {
    provider.claims = claims;
    if (claims.exp !== undefined)
      provider.answers = { '/token': (answer) => ({ ...answer, id_token: 'eyJhbGciOiJFUzI1NiJ9.e30.' }) };
    const issuer = await openWith((origin) => [oidcTo(origin, provider)]);
    expect(await failureAt(issuer)).toBe('server_error');
  });

  it('a response with another issuer is refused as a mix-up (RFC 9207 section 2.4)', async () => {
    provider.answers = {
      '/.well-known/openid-configuration': (answer) => ({
        ...answer,
        authorization_response_iss_parameter_supported: true,
      }),
    };
    const issuer = await openWith((origin) => [oidcTo(origin, provider)]);
    expect(await failureAt(issuer)).toBe('server_error');
    expect(issuer.log()).toContain('of no issuer');
  });

  it('userInfoOverride defines the person, who must be the subject of the id_token', async () => {
    const override = { endpoint_url: `${provider.url}/me`, http_method: 'GET' as const };
    const issuer = await openWith((origin) => [oidcTo(origin, provider, { userinfo_override: override })]);
    expect((await logInAt(issuer)).claims).toMatchObject({ name: 'Name of ada', email: 'ada@example.com' });
    provider.answers = { '/me': () => ({ sub: 'eve' }) };
    expect(await failureAt(issuer)).toBe('server_error');
  });

  it('a refreshed token of another subject ends the session', async () => {
    provider.answers = {
      '/token': (answer, { form }) =>
        form.get('grant_type') === 'refresh_token' ? answer : { ...answer, expires_in: 1 },
    };
    const issuer = await openWith((origin) => [oidcTo(origin, provider)]);
    const { upstreamToken } = await logInAt(issuer);
    provider.subject = 'eve';
    expect(await upstreamToken()).toBeUndefined();
    expect(issuer.log()).toContain('has another subject');
  });

  it('a refreshed token of the same subject continues the session', async () => {
    provider.answers = {
      '/token': (answer, { form }) =>
        form.get('grant_type') === 'refresh_token' ? answer : { ...answer, expires_in: 1 },
    };
    const issuer = await openWith((origin) => [oidcTo(origin, provider)]);
    const { upstreamToken } = await logInAt(issuer);
    expect(await upstreamToken()).toBe('access-of-ada-refresh_token');
    expect(await upstreamToken()).toBe('access-of-ada-refresh_token');
    expect(provider.last('/token')?.form.get('refresh_token')).toBe('refresh-of-ada');
  });

  it('a failure of the provider during a refresh fails the call, and the session stays', async () => {
    provider.answers = {
      '/token': (answer, { form }) =>
        form.get('grant_type') === 'refresh_token' ? 503 : { ...answer, expires_in: 0.001 },
    };
    const issuer = await openWith((origin) => [oidcTo(origin, provider)]);
    const { upstreamToken } = await logInAt(issuer);
    await expect(upstreamToken()).rejects.toMatchObject({ code: 'issuer-upstream-unavailable' });
    provider.answers = {};
    expect(await upstreamToken()).toBe('access-of-ada-refresh_token');
  });
});

describe('a chain of providers', () => {
  const both = (origin: string) => [
    oidcTo(origin, provider),
    { ...oauth2To(origin, second, { redirect_uri: `${origin}/back/from/the/host` }), name: 'code-host' },
  ];

  it('is visited in order, and each provider issues its token; the first provider defines the person', async () => {
    second.subject = 'ada-at-the-host';
    const issuer = await openWith(both);
    const { claims, upstreamToken, place } = await logInAt(issuer);
    const hosts = place.trail.map((url) => new URL(url).origin);
    expect(hosts.indexOf(provider.url)).toBeLessThan(hosts.indexOf(second.url));
    expect(place.trail.some((url) => url.includes('/back/from/the/host'))).toBe(true);
    expect(claims.name).toBe('Name of ada-at-the-host');
    expect(await upstreamToken('login')).toBe('access-of-ada-authorization_code');
    expect(await upstreamToken('code-host')).toBe('access-of-ada-at-the-host-authorization_code');
    expect(await upstreamToken('another')).toBeUndefined();
  });

  it('that fails in the middle stores no tokens', async () => {
    second.answers = { '/token': () => 500 };
    const issuer = await openWith(both);
    expect(await failureAt(issuer)).toBe('temporarily_unavailable');
    second.answers = {};
    expect(typeof (await (await logInAt(issuer)).upstreamToken('code-host'))).toBe('string');
  });

  it('responses of one provider are not accepted as responses of the other', async () => {
    const issuer = await openWith(both);
    const first = await newPerson({ client: provider.url }).visit(
      authorizeUrl(issuer, await newClient(issuer), newPkce()),
    );
    const state = first.url.searchParams.get('state') ?? '';
    const mixed = await fetch(`${issuer.issuer}/back/from/the/host?${new URLSearchParams({ code: 'code-1', state })}`);
    expect(mixed.status).toBe(400);
  });
});

it('the secret of a provider is read again when its file changes', async () => {
  const { mkdtempSync, writeFileSync } = await import('node:fs');
  const { join } = await import('node:path');
  const { tmpdir } = await import('node:os');
  const file = join(mkdtempSync(join(tmpdir(), 'skep-secret-')), 'secret');
  writeFileSync(file, 'first\n');
  const issuer = await openWith((origin) => [oauth2To(origin, provider, { client_secret_file: file })]);
  await logInAt(issuer);
  expect(provider.last('/token')?.form.get('client_secret')).toBe('first');
  writeFileSync(file, 'the second');
  await expect
    .poll(async () => {
      await logInAt(issuer);
      return provider.last('/token')?.form.get('client_secret');
    })
    .toBe('the second');
});

it('a callback on another host is redirected to the host of the issuer, which has the cookies', async () => {
  const issuer = await openWith((origin) => [
    oidcTo(origin, provider, { redirect_uri: `${origin.replace('127.0.0.1', 'localhost')}/elsewhere` }),
  ]);
  const { place } = await logInAt(issuer);
  const hosts = place.trail
    .map((url) => new URL(url))
    .filter(({ pathname }) => ['/elsewhere', '/oauth/callback'].includes(pathname));
  expect(hosts.map(({ hostname }) => hostname)).toEqual(['localhost', '127.0.0.1']);
});

// Tests complete logins: the responses to client and person, and the request that the MCP server receives. In one file,
// because all tests share one proxy with its authorization server and provider.

import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopAll } from '../proxy/rig.ts';
import { CLIENT_REDIRECT, newPerson } from './person.ts';
import {
  authorizeUrl,
  callMcp,
  type LoginWorld,
  logIn,
  newClient,
  newPkce,
  openLoginWorld,
  post,
  redeem,
  refresh,
  tokensOf,
} from './world.ts';

let world: LoginWorld;
beforeAll(async () => {
  world = await openLoginWorld();
});
afterAll(async () => {
  await stopAll();
  await world.provider.close();
});

async function getJson(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, world.issuer));
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

describe('a login', () => {
  it('returns a token for calls; the MCP server gets the token of the provider instead', async () => {
    const { tokens } = await logIn(world);
    const answered = await callMcp(world, tokens.access_token);
    expect(answered.status).toBe(200);
    const received = world.server.received.at(-1)?.request.headers.authorization ?? '';
    expect(received).toMatch(/^Bearer \S+$/);
    expect(received).not.toContain(tokens.access_token);
    const me = await fetch(`${world.provider.url}/me`, { headers: { authorization: received } });
    expect(JSON.parse(await me.text())).toMatchObject({ sub: 'ada' });
  });

  it('returns an access token of RFC 9068 for the resource, signed with a published key', async () => {
    const { tokens, client } = await logIn(world, { more: { resource: world.resource, scope: 'openid weather' } });
    const keys = (await getJson('/.well-known/jwks.json')) as unknown as JSONWebKeySet;
    const { payload, protectedHeader } = await jwtVerify(tokens.access_token, createLocalJWKSet(keys));
    expect(protectedHeader).toMatchObject({ typ: 'at+jwt', alg: 'ES256', kid: keys.keys[0]?.kid });
    expect(payload).toMatchObject({
      iss: world.issuer,
      aud: world.resource,
      client_id: client,
      scope: 'openid weather',
      name: 'ada of the tests',
      email: 'ada@example.com',
    });
    expect(payload.sub).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8/);
    expect(payload.jti).toBeTypeOf('string');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
    expect(createPublicKey({ key: keys.keys[0] ?? {}, format: 'jwk' }).type).toBe('public');
    expect(JSON.stringify(keys)).not.toContain('"d"');
  });

  it('has the same subject each time, and another subject for another account', async () => {
    const subjects = [];
    for (const account of ['ada', 'ada', 'bob']) {
      world.provider.account = account;
      const { tokens } = await logIn(world);
      subjects.push(JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString()).sub);
    }
    world.provider.account = 'ada';
    expect(subjects[0]).toBe(subjects[1]);
    expect(subjects[2]).not.toBe(subjects[0]);
  });

  it('redirects to the client with code, state and issuer (RFC 9207 section 2)', async () => {
    const client = await newClient(world);
    const { url } = await newPerson().visit(authorizeUrl(world, client, newPkce()));
    expect(`${url.origin}${url.pathname}`).toBe(CLIENT_REDIRECT);
    expect([...url.searchParams.keys()].sort()).toEqual(['code', 'iss', 'state']);
    expect(url.searchParams.get('state')).toBe('state of the client');
    expect(url.searchParams.get('iss')).toBe(world.issuer);
  });
});

describe('the person', () => {
  it('sees the consent page before the redirect to the provider, with client, scopes and redirect URI', async () => {
    const before = world.provider.requests.get('/auth') ?? 0;
    const client = await newClient(world, { client_name: 'Weather <b>app</b>' });
    const place = await newPerson({ decision: 'look' }).visit(
      authorizeUrl(world, client, newPkce(), { scope: 'openid weather' }),
    );
    expect(place.status).toBe(200);
    expect(place.text).toContain('Weather &lt;b&gt;app&lt;/b&gt;');
    expect(place.text).toContain('an app on this computer');
    expect(place.text).toContain('use “weather”');
    expect(place.text).toContain(new URL(world.provider.url).host);
    expect(world.provider.requests.get('/auth') ?? 0).toBe(before);
  });

  it('who denies consent is redirected with access_denied', async () => {
    const client = await newClient(world);
    const { url } = await newPerson({ decision: 'deny' }).visit(authorizeUrl(world, client, newPkce()));
    expect(url.searchParams.get('error')).toBe('access_denied');
    expect(url.searchParams.get('iss')).toBe(world.issuer);
  });

  it('who has consented is asked again only for more scopes', async () => {
    const site = 'https://app.example.com/callback';
    const person = newPerson({ client: site });
    const client = await newClient(world, { redirect_uris: [site] });
    async function isAsked(more: Readonly<Record<string, string>>): Promise<boolean> {
      const { url, trail } = await person.visit(
        authorizeUrl(world, client, newPkce(), { redirect_uri: site, ...more }),
      );
      expect(url.searchParams.get('code')).toBeTypeOf('string');
      return trail.some((each) => each.includes('/oauth/consent'));
    }
    expect(await isAsked({ scope: 'openid' })).toBe(true);
    expect(await isAsked({ scope: 'openid' })).toBe(false);
    expect(await isAsked({ scope: 'openid weather' })).toBe(true);
    expect(await isAsked({ scope: 'openid', prompt: 'consent' })).toBe(true);
  });

  it.each(['http://127.0.0.1:51234/callback', 'http://127.0.0.1:33418/callback', 'com.example.app:/back'])(
    'is asked each time for the redirect %s, which any app of the machine can receive (RFC 8252 section 8.6)',
    async (redirect) => {
      const person = newPerson({ client: redirect });
      const uris = ['http://127.0.0.1/callback', 'http://127.0.0.1:33418/callback', 'com.example.app:/back'];
      const client = await newClient(world, { redirect_uris: uris });
      for (const _time of ['first', 'second']) {
        const { url, trail } = await person.visit(authorizeUrl(world, client, newPkce(), { redirect_uri: redirect }));
        expect(url.searchParams.get('code')).toBeTypeOf('string');
        expect(trail.some((each) => each.includes('/oauth/consent'))).toBe(true);
      }
    },
  );

  it('of another account than the account that consented is asked', async () => {
    const { person, client } = await logIn(world);
    world.provider.account = 'bob';
    person.cookies.get(new URL(world.provider.url).host);
    for (const [host, cookies] of person.cookies) {
      if (host === new URL(world.provider.url).host)
        for (const name of [...cookies.keys()]) (cookies as Map<string, string>).delete(name);
    }
    const place = await person.visit(authorizeUrl(world, client, newPkce()));
    world.provider.account = 'ada';
    expect(place.trail.filter((url) => url.includes('/oauth/consent')).length).toBe(1);
    expect(place.url.searchParams.get('code')).toBeTypeOf('string');
  });

  it('sees the connected apps and disconnects an app, after which refreshes and calls fail', async () => {
    world.provider.account = 'grace';
    const { person, client, tokens } = await logIn(world);
    world.provider.account = 'ada';
    const apps = `${world.issuer}/oauth/apps`;
    expect((await person.visit(apps)).text).toContain('Weather app');
    const cookies = person.cookies.get(new URL(world.issuer).host) ?? new Map();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(apps, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client }),
    });
    expect(answer.status).toBe(303);
    expect((await person.visit(apps)).text).not.toContain('Weather app');
    const refreshed = await refresh(world, client, tokens.refresh_token ?? '');
    expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await callMcp(world, tokens.access_token)).status).toBe(401);
  });
});

describe('a refresh token', () => {
  it('returns new tokens, and is replaced', async () => {
    const { client, tokens } = await logIn(world);
    const second = tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    expect(second.refresh_token).not.toBe(tokens.refresh_token);
    expect((await callMcp(world, second.access_token)).status).toBe(200);
    const third = tokensOf(await refresh(world, client, second.refresh_token ?? ''));
    expect((await callMcp(world, third.access_token)).status).toBe(200);
  });

  it('stays valid until its successor is used, because the response may have been lost', async () => {
    const { client, tokens } = await logIn(world);
    tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    const again = tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    tokensOf(await refresh(world, client, again.refresh_token ?? ''));
  });

  it('whose successor was used ends the session', async () => {
    const { client, tokens } = await logIn(world);
    const second = tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    const third = tokensOf(await refresh(world, client, second.refresh_token ?? ''));
    expect(await refresh(world, client, tokens.refresh_token ?? '')).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await refresh(world, client, third.refresh_token ?? '')).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('is one of two successors, and the use of both ends the session', async () => {
    const { client, tokens } = await logIn(world);
    const ofThief = tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    const ofOwner = tokensOf(await refresh(world, client, tokens.refresh_token ?? ''));
    const next = tokensOf(await refresh(world, client, ofThief.refresh_token ?? ''));
    expect((await refresh(world, client, ofOwner.refresh_token ?? '')).status).toBe(400);
    expect((await refresh(world, client, next.refresh_token ?? '')).status).toBe(400);
  });

  it('is issued only to clients that registered for it', async () => {
    const client = await newClient(world, { grant_types: ['authorization_code'] });
    expect((await logIn(world, { client })).tokens.refresh_token).toBeUndefined();
  });

  it.each([
    ['openid mcp:tools', 'openid'],
    ['mcp:tools', 'openid profile email offline_access weather'],
  ])('a login for the scopes %s returns %s: unknown scopes are ignored', async (scope, granted) => {
    expect((await logIn(world, { more: { scope } })).tokens.scope).toBe(granted);
  });

  it('narrows scopes for one token, and never widens them', async () => {
    const { client, tokens } = await logIn(world, { more: { scope: 'openid weather' } });
    const narrowed = tokensOf(await refresh(world, client, tokens.refresh_token ?? '', { scope: 'openid' }));
    expect(narrowed.scope).toBe('openid');
    const whole = tokensOf(await refresh(world, client, narrowed.refresh_token ?? ''));
    expect(whole.scope).toBe('openid weather');
    const unknown = await refresh(world, client, whole.refresh_token ?? '', { scope: 'openid mcp:tools' });
    expect(tokensOf(unknown).scope).toBe('openid');
    const wider = await refresh(world, client, tokensOf(unknown).refresh_token ?? '', { scope: 'openid email' });
    expect(wider).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });
});

describe('revocation (RFC 7009)', () => {
  it.each(['refresh_token', 'access_token'] as const)(
    'of the %s ends the session: the next call requires a login',
    async (kind) => {
      const { client, tokens } = await logIn(world);
      const token = tokens[kind] ?? '';
      expect((await post(`${world.issuer}/oauth/revoke`, { client_id: client, token })).status).toBe(200);
      expect((await refresh(world, client, tokens.refresh_token ?? '')).status).toBe(400);
      const answered = await callMcp(world, tokens.access_token);
      expect(answered.status).toBe(401);
      expect(answered.headers.get('www-authenticate')).toContain('error="invalid_token"');
    },
  );

  it('does not reveal whether a token is known, and refuses tokens of another client', async () => {
    const { client, tokens } = await logIn(world);
    const other = await newClient(world);
    const url = `${world.issuer}/oauth/revoke`;
    expect((await post(url, { client_id: client, token: 'skr_unknown' })).status).toBe(200);
    expect(await post(url, { client_id: other, token: tokens.refresh_token ?? '' })).toMatchObject({ status: 400 });
    expect((await callMcp(world, tokens.access_token)).status).toBe(200);
  });
});

describe('metadata', () => {
  it('is correct at every URL that clients try (RFC 8414 section 3)', async () => {
    const document = await getJson('/.well-known/oauth-authorization-server');
    expect(document).toMatchObject({
      issuer: world.issuer,
      authorization_endpoint: `${world.issuer}/oauth/authorize`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    });
    expect(document).not.toHaveProperty('id_token_signing_alg_values_supported');
    expect(await getJson('/.well-known/openid-configuration')).toEqual(document);
    const resource = await getJson('/.well-known/oauth-protected-resource/mcp');
    expect(resource).toMatchObject({ resource: world.resource, authorization_servers: [world.issuer] });
  });

  it('is served below an issuer with a path, and with the path inserted', async () => {
    const below = await openLoginWorld({ path: '/weather', provider: world.provider });
    const { origin } = new URL(below.issuer);
    for (const path of [
      '/.well-known/oauth-authorization-server/weather',
      '/weather/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/weather',
      '/.well-known/openid-configuration/weather/',
      '/weather/.well-known/openid-configuration',
    ]) {
      const response = await fetch(`${origin}${path}`);
      expect([path, JSON.parse(await response.text()).issuer]).toEqual([path, below.issuer]);
    }
    const { tokens } = await logIn(below);
    expect((await callMcp(below, tokens.access_token)).status).toBe(200);
  });
});

describe('a client that is no longer known', () => {
  it('gets 401 invalid_client at the token endpoint, so that it registers again', async () => {
    const answer = await redeem(world, 'gone', 'skc_x', newPkce());
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('gets a page at the authorization endpoint, without a redirect', async () => {
    const place = await newPerson().visit(authorizeUrl(world, 'gone', newPkce()));
    expect(place.status).toBe(400);
    expect(place.text).toContain('is unknown here');
  });
});

it('skep_issuer_requests_total counts requests by endpoint and status, without personal data', async () => {
  const counted = await openLoginWorld({
    provider: world.provider,
    config: {
      telemetry_config: {
        ...{ service_name: 'counted', insecure: false, metrics_enabled: false, tracing_enabled: false },
        ...{ sampling_rate: '0.05', use_legacy_attributes: true, enable_prometheus_metrics_path: true },
      },
    },
  });
  await logIn(counted);
  await fetch(`${counted.issuer}/oauth/authorize?client_id=nobody`);
  const text = await (await fetch(`${counted.proxy.origin}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('skep_issuer_requests_total'));
  for (const [endpoint, status] of [
    ['register', 201],
    ['authorize', 200],
    ['authorize', 400],
    ['consent', 200],
    ['callback', 303],
    ['token', 200],
  ]) {
    expect(lines).toContain(`skep_issuer_requests_total{endpoint="${endpoint}",status_code="${status}"} 1`);
  }
  expect(text).not.toContain('ada');
});

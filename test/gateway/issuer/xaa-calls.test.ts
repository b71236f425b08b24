// Tests calls to a server that trusts the login's identity provider, with the stored id_token.

import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { type LoginProvider, startLoginProvider } from '../../harness/login-provider.ts';
import { type Endpoint, sendJson, startEndpoint } from '../credentials/endpoint.ts';
import { stopAll } from '../proxy/rig.ts';
import { configOf, type DirectIssuer, oauth2To, oidcTo, openDirect } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, callMcp, logIn, newClient, newPkce, openLoginWorld, redeem, tokensOf } from './world.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
let provider: LoginProvider;
let exchange: Endpoint;

beforeAll(async () => {
  provider = await startLoginProvider();
  const keys = createRemoteJWKSet(new URL(`${provider.url}/jwks`));
  exchange = await startEndpoint(async ({ path, form }, response) => {
    if (path === '/target')
      return sendJson(response, 200, {
        access_token: `target-token-of-${decodeJwt(form.get('assertion') ?? '').sub}`,
        token_type: 'Bearer',
        expires_in: 60,
      });
    const { payload } = await jwtVerify(form.get('subject_token') ?? '', keys, { issuer: provider.url });
    const claims = { sub: payload.sub, aud: form.get('audience') };
    const assertion = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
    return sendJson(response, 200, { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A' });
  });
});
afterAll(async () => {
  await stopAll();
  await Promise.all([provider.close(), exchange.close()]);
});

const access = () => ({
  idp_token_url: `${exchange.url}/idp`,
  target_token_url: `${exchange.url}/target`,
  target_audience: 'https://auth.notes.example.com',
});

describe('a proxy with an authorization server', () => {
  it('calls with a token of the target server for the logged-in person', async () => {
    const world = await openLoginWorld({ provider, config: { xaa_config: access() } });
    const { tokens } = await logIn(world);
    expect((await callMcp(world, tokens.access_token)).status).toBe(200);
    const call = world.server.received.find(({ message }) => message?.method === 'tools/call');
    expect(call?.request.headers.authorization).toBe('Bearer target-token-of-ada');
  });

  it('refuses the call if the identity provider refuses the id_token', async () => {
    const world = await openLoginWorld({
      provider,
      config: { xaa_config: { ...access(), idp_token_url: `${provider.url}/none` } },
    });
    const { tokens } = await logIn(world);
    expect((await callMcp(world, tokens.access_token)).status).toBe(502);
    expect(world.server.received.filter(({ message }) => message?.method === 'tools/call')).toEqual([]);
  });

  it('does not start without an authorization server, or if the MCP server gets no tokens', async () => {
    const without = openLoginWorld({
      provider,
      config: { xaa_config: access(), embedded_auth_server_config: undefined },
    });
    await expect(without).rejects.toMatchObject({ code: 'credential-config-invalid' });
    const removed = openLoginWorld({
      provider,
      auth: { disable_upstream_token_injection: true },
      config: { xaa_config: access() },
    });
    await expect(removed).rejects.toMatchObject({ code: 'credential-config-invalid' });
  });
});

describe('the id_token of a login', () => {
  let recording: RecordingProvider;
  beforeAll(async () => {
    recording = await startRecordingProvider();
  });
  afterAll(() => recording.close());

  const now = () => Math.floor(Date.now() / 1000);

  async function idTokenOf(issuer: DirectIssuer) {
    const [client, pkce] = [await newClient(issuer), newPkce()];
    const { url } = await newPerson().visit(authorizeUrl(issuer, client, pkce));
    const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
    const claims = decodeJwt(tokens.access_token) as JsonObject;
    return () => issuer.open.upstreamIdToken({ key: 'x', claims });
  }

  function open(type: 'oidc' | 'oauth2' = 'oidc') {
    const to = type === 'oidc' ? oidcTo : oauth2To;
    return openDirect({ config: (origin) => configOf(origin, [to(origin, recording)]) });
  }

  it('is stored, and replaced by the id_token of a refresh before it expires', async () => {
    const issuer = await open();
    recording.claims = { exp: now() + 3600, round: 1 };
    const fresh = await idTokenOf(issuer);
    expect(decodeJwt((await fresh()) ?? '')).toMatchObject({ round: 1 });
    const refreshes = recording.count('/token');
    await fresh();
    expect(recording.last('/token')?.form.get('grant_type')).toBe('authorization_code');
    recording.claims = { exp: now() + 10, round: 2 };
    const old = await idTokenOf(issuer);
    recording.claims = { exp: now() + 3600, round: 3 };
    expect(decodeJwt((await old()) ?? '')).toMatchObject({ round: 3 });
    expect(decodeJwt((await old()) ?? '')).toMatchObject({ round: 3 });
    // One token request for the second login, and one for a refresh.
    expect(recording.count('/token') - refreshes).toBe(2);
    await issuer.close();
  });

  it('is missing if a refresh returns none, and the provider does not get a request per call', async () => {
    const issuer = await open();
    recording.claims = { exp: now() + 10 };
    const old = await idTokenOf(issuer);
    recording.answers = { '/token': ({ id_token: _gone, ...answer }) => answer };
    const before = recording.count('/token');
    expect([await old(), await old(), await old()]).toEqual([undefined, undefined, undefined]);
    expect(recording.count('/token') - before).toBe(1);
    recording.answers = {};
    await issuer.close();
  });

  it('is missing for a provider without OpenID Connect', async () => {
    const issuer = await open('oauth2');
    recording.claims = {};
    expect(await (await idTokenOf(issuer))()).toBeUndefined();
    await issuer.close();
  });
});

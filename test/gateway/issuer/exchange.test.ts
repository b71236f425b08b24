// Tests token exchange by delegate clients (RFC 8693) with tokens of this server and of a trusted issuer, and attacks.
// In one file, because nearly all tests share one server, the trusted issuer and the function that sends an exchange.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, oidcTo, openDirect, RESOURCE } from './direct.ts';
import { newPerson } from './person.ts';
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
import { type Answer, type AuthServer, authorizeUrl, newClient, newPkce, post, redeem, tokensOf } from './world.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const SECOND = 'https://weather.example.com/other';
const ACTOR = 'app of the other issuer';
const SCOPES = ['openid', 'weather', 'storm', 'admin'];

const TRUST: Partial<TrustedBlock> = {
  expected_audience: RESOURCE,
  allowed_actors: [ACTOR],
  allowed_delegate_clients: [DELEGATE.id],
};

function openExchange(more: Partial<TrustedBlock> = {}, auth: Partial<AuthServer> = {}): Promise<TrustedWorld> {
  return openTrusted(
    (other) => ({
      scopes_supported: SCOPES,
      allowed_audiences: [RESOURCE, SECOND],
      trusted_issuers: [trustedBlock(other, { ...TRUST, ...more })],
      delegate_clients: [DELEGATE_CLIENT, { ...DELEGATE_CLIENT, client_id: 'another' }],
      ...auth,
    }),
    () => ({ aud: RESOURCE, azp: ACTOR, scope: 'weather storm read' }),
  );
}

let world: TrustedWorld;
beforeAll(async () => {
  world = await openExchange();
});
afterAll(() => world.close());

/** Returns the Basic header. Id and secret are encoded (RFC 6749 section 2.3.1). */
const basic = (id: string = DELEGATE.id, secret: string = DELEGATE.secret) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

type Form = Readonly<Record<string, string | undefined>>;

function exchange(token: string, more: Form = {}, at = world, headers = basic()): Promise<Answer> {
  const all = { grant_type: GRANT, subject_token: token, subject_token_type: ACCESS_TOKEN, ...more };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return at.token(Object.fromEntries(given), headers);
}

async function login({ issuer }: TrustedWorld, scope = 'weather storm') {
  const [client, pkce, person] = [await newClient(issuer), newPkce(), newPerson()];
  const { url } = await person.visit(authorizeUrl(issuer, client, pkce, { scope, resource: RESOURCE }));
  const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
  return { client, tokens, claims: decodeJwt(tokens.access_token) };
}

const claimsOf = ({ body }: Answer) => decodeJwt(String(body.access_token));

describe('a delegate client', () => {
  it('gets a token for the person and the login of the subject token, with the client as actor', async () => {
    const { claims, tokens, client } = await login(world);
    expect(client).not.toBe(DELEGATE.id);
    const answer = await exchange(tokens.access_token);
    expect(answer).toMatchObject({
      status: 200,
      body: { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', scope: 'weather storm' },
    });
    expect(answer.body.refresh_token).toBeUndefined();
    const given = claimsOf(answer);
    expect(given).toMatchObject({
      sub: claims.sub,
      tsid: claims.tsid,
      aud: RESOURCE,
      client_id: DELEGATE.id,
      act: { iss: world.issuer.issuer, sub: DELEGATE.id },
    });
    expect(given.exp).toBeLessThanOrEqual(Number(claims.exp));
    expect(await world.issuer.open.upstreamToken({ key: 'x', claims: given as never })).toBeTypeOf('string');
  });

  it('gets a token for a subject of a trusted issuer, which is never a person of this server', async () => {
    const answer = await exchange(await world.sign());
    expect(answer.body.expires_in).toBeLessThanOrEqual(60);
    expect(claimsOf(answer)).toMatchObject({
      sub: `${world.other.url}#${WORKLOAD}`,
      tsid: null,
      aud: RESOURCE,
      scope: 'weather storm',
      act: { iss: world.issuer.issuer, sub: DELEGATE.id, act: { iss: world.other.url, sub: ACTOR } },
    });
    expect(world.issuer.log()).toContain('issuer-token-exchanged');
  });

  it('gets fewer scopes on request, and can authenticate in the form', async () => {
    const form = { client_id: DELEGATE.id, client_secret: DELEGATE.secret, scope: 'storm', audience: RESOURCE };
    const answer = await exchange(await world.sign({ scope: undefined, scp: ['storm'] }), form, world, {} as never);
    expect(answer).toMatchObject({ status: 200, body: { scope: 'storm' } });
  });

  it('adds itself to earlier actors, up to a limit', async () => {
    let { access_token: token } = (await login(world)).tokens;
    for (let depth = 1; depth <= 10; depth += 1) {
      const answer = await exchange(token);
      expect(answer.status).toBe(200);
      token = String(answer.body.access_token);
    }
    expect(await exchange(token)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const long = await world.sign({ act: { sub: 'x'.repeat(9000) } });
    expect((await exchange(long)).body.error).toBe('invalid_request');
  });

  it.each([
    { reason: 'a text', act: 'reports' },
    { reason: 'null', act: null },
    { reason: 'a list', act: [{ sub: 'reports' }] },
    { reason: 'a text in another act', act: { sub: 'reports', act: 'nightly' } },
  ])('refuses a token in which act is $reason, because it would hide a party', async ({ act }) => {
    const answer = await exchange(await world.sign({ act }));
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(answer.body.error_description).toContain('act');
  });

  it('cannot end the login of the person by revoking its own token, and loses access with the login', async () => {
    const { tokens, client } = await login(world);
    const own = String((await exchange(tokens.access_token)).body.access_token);
    expect((await post(`${world.issuer.issuer}/oauth/revoke`, { token: own }, basic())).status).toBe(200);
    expect((await exchange(tokens.access_token)).status).toBe(200);
    await post(`${world.issuer.issuer}/oauth/revoke`, { token: tokens.refresh_token ?? '', client_id: client });
    expect(await exchange(tokens.access_token)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await exchange(own)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it('is announced in the metadata, and cannot log in or register', async () => {
    const { issuer } = world.issuer;
    const document = JSON.parse(await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).text());
    expect(document.grant_types_supported).toContain(GRANT);
    expect(document.token_endpoint_auth_methods_supported).toContain('client_secret_basic');
    const page = await newPerson().visit(authorizeUrl(world.issuer, DELEGATE.id, newPkce()));
    expect(page.status).toBe(400);
    const other = await world.token({ grant_type: 'refresh_token', refresh_token: 'x' }, basic());
    expect(other.body.error).toBe('invalid_grant');
  });

  it('authenticates with the current secret, and with the last secret while the file is empty', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'skep-delegate-')), 'secret');
    writeFileSync(file, 'first secret\n');
    const rotated = await openExchange(
      {},
      { delegate_clients: [{ ...DELEGATE_CLIENT, client_secret_env_var: undefined, client_secret_file: file }] },
    );
    const ask = async (secret: string) =>
      (await exchange(await rotated.sign(), {}, rotated, basic(DELEGATE.id, secret))).status;
    expect(await ask('first secret')).toBe(200);
    writeFileSync(file, 'second secret');
    await expect.poll(() => ask('second secret')).toBe(200);
    expect(await ask('first secret')).toBe(401);
    writeFileSync(file, '');
    await expect
      .poll(async () => {
        await ask('x');
        return rotated.issuer.log();
      })
      .toContain('issuer-secret-invalid');
    expect(await ask('second secret')).toBe(200);
    expect(await ask('')).not.toBe(200);
    await rotated.close();
  });
});

describe('the issuer decides who may act', () => {
  async function decide(more: Partial<TrustedBlock>, claims: JWTPayload, headers?: ReturnType<typeof basic>) {
    const at = await openExchange(more);
    const own = at.issuer.issuer;
    const filled = JSON.parse(JSON.stringify(claims).replaceAll('OWN', own));
    const { status, body } = await exchange(await at.sign({ ...claims, ...filled }), {}, at, headers);
    await at.close();
    return status === 200 ? 'given' : body.error;
  }
  const MAY_ACT = { allow_may_act: true, allowed_actors: undefined };
  const named = (more: object = {}) => ({ may_act: { iss: 'OWN', sub: DELEGATE.id, ...more } });

  it.each<{ reason: string; more: Partial<TrustedBlock>; claims: JWTPayload; found: string }>([
    { reason: 'another actor', more: {}, claims: { azp: 'x' }, found: 'invalid_request' },
    { reason: 'no actor', more: {}, claims: { azp: undefined }, found: 'invalid_request' },
    { reason: 'an actor in a list', more: {}, claims: { azp: [ACTOR] }, found: 'invalid_request' },
    {
      reason: 'the claim of another provider',
      more: { actor_claim: 'appid' },
      claims: { appid: ACTOR },
      found: 'given',
    },
    { reason: 'not that claim', more: { actor_claim: 'appid' }, claims: {}, found: 'invalid_request' },
    { reason: 'no actors at all', more: { allowed_actors: undefined }, claims: {}, found: 'invalid_request' },
    {
      reason: 'an expression that is true',
      more: { allowed_actors: undefined, actor_matcher: 'claims.roles.exists(r, r == "robot")' },
      claims: { roles: ['robot'] },
      found: 'given',
    },
    {
      reason: 'an expression that is not',
      more: { allowed_actors: undefined, actor_matcher: 'claims.roles.exists(r, r == "robot")' },
      claims: { roles: ['person'] },
      found: 'invalid_request',
    },
    {
      reason: 'an expression about a missing claim',
      more: { allowed_actors: undefined, actor_matcher: 'claims.roles.exists(r, r == "robot")' },
      claims: {},
      found: 'invalid_request',
    },
    {
      reason: 'an expression that does not return a boolean',
      more: { allowed_actors: undefined, actor_matcher: 'claims.sub' },
      claims: {},
      found: 'invalid_request',
    },
    { reason: 'may_act that is not read', more: {}, claims: named(), found: 'invalid_request' },
    { reason: 'may_act', more: MAY_ACT, claims: named(), found: 'given' },
    { reason: 'may_act of another client', more: MAY_ACT, claims: named({ sub: 'another' }), found: 'invalid_request' },
    { reason: 'may_act of no server', more: MAY_ACT, claims: named({ iss: undefined }), found: 'invalid_request' },
    {
      reason: 'may_act of another server',
      more: MAY_ACT,
      claims: named({ iss: 'https://x' }),
      found: 'invalid_request',
    },
    {
      reason: 'may_act without a party, in addition to an actor',
      more: { allow_may_act: true },
      claims: { may_act: 'everybody' as never },
      found: 'invalid_request',
    },
  ])('$reason: $found', async ({ more, claims, found }) => expect(await decide(more, claims)).toBe(found));

  it('and the settings decide which clients may act, even with may_act', async () => {
    const another = basic('another');
    expect(await decide({}, {}, another)).toBe('unauthorized_client');
    expect(await decide({ allowed_delegate_clients: ['*'] }, {}, another)).toBe('given');
    expect(await decide({ allowed_delegate_clients: ['another'] }, {}, another)).toBe('given');
    const mayAct = { may_act: { iss: 'OWN', sub: 'another' } };
    expect(await decide(MAY_ACT, mayAct, another)).toBe('unauthorized_client');
  });
});

const now = () => Math.floor(Date.now() / 1000);

describe('an exchange is refused', () => {
  it.each<{ reason: string; claims?: () => JWTPayload; header?: object; form?: Form; error?: string }>([
    { reason: 'for a token for others', claims: () => ({ aud: 'https://other.example' }) },
    { reason: 'for a token of an issuer that is not trusted', claims: () => ({ iss: 'https://other.example' }) },
    { reason: 'for a token that has expired', claims: () => ({ exp: now() - 1 }) },
    { reason: 'for a token without an end', claims: () => ({ exp: undefined }) },
    { reason: 'for a token without a subject', claims: () => ({ sub: undefined }) },
    { reason: 'for a token that is bound to a key', claims: () => ({ cnf: { jkt: 'x' } }) },
    { reason: 'for an ID token', claims: () => ({ nonce: 'x' }) },
    { reason: 'for a logout token', header: { typ: 'logout+jwt' } },
    { reason: 'for a token with an unknown key', header: { kid: 'unknown' } },
    { reason: 'without a token', form: { subject_token: undefined } },
    { reason: 'for an opaque token', form: { subject_token: 'opaque' } },
    {
      reason: 'for an ID token by its type',
      form: { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
    },
    { reason: 'without the type of the token', form: { subject_token_type: undefined } },
    { reason: 'for another kind of token', form: { requested_token_type: 'urn:ietf:params:oauth:token-type:jwt' } },
    { reason: 'with an actor that proves itself otherwise', form: { actor_token: 'x', actor_token_type: 'y' } },
    { reason: 'for a resource of others', form: { resource: SECOND }, error: 'invalid_target' },
    { reason: 'for two resources', form: { resource: RESOURCE, audience: SECOND }, error: 'invalid_target' },
    { reason: 'for a scope that the token does not have', form: { scope: 'weather admin' }, error: 'invalid_scope' },
    { reason: 'for a scope that the client may not have', form: { scope: 'read' }, error: 'invalid_scope' },
  ])('$reason', async ({ claims, header, form, error = 'invalid_request' }) => {
    const token = await world.sign(claims?.(), { header });
    expect(await exchange(token, form)).toMatchObject({ status: 400, body: { error } });
  });

  it('for a token of a person that is for another resource', async () => {
    const at = await openExchange({}, { delegate_clients: [{ ...DELEGATE_CLIENT, audiences: [RESOURCE, SECOND] }] });
    const { tokens } = await login(at);
    expect((await exchange(tokens.access_token, { resource: RESOURCE }, at)).status).toBe(200);
    expect((await exchange(tokens.access_token, { resource: SECOND }, at)).body.error).toBe('invalid_target');
    expect((await exchange(tokens.access_token, {}, at)).body.error).toBe('invalid_target');
    await at.close();
  });

  it('for a resource that is not configured for the client', async () => {
    const at = await openExchange({}, { delegate_clients: [{ ...DELEGATE_CLIENT, audiences: [SECOND] }] });
    const { tokens } = await login(at);
    expect((await exchange(tokens.access_token, { resource: RESOURCE }, at)).body.error).toBe('invalid_target');
    expect((await exchange(tokens.access_token, {}, at)).body.error).toBe('invalid_target');
    await at.close();
  });

  it('for a client without its secret, and for clients that registered', async () => {
    const token = await world.sign();
    const wrong = await exchange(token, {}, world, basic(DELEGATE.id, 'wrong'));
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const none = await exchange(token, { client_id: DELEGATE.id }, world, {} as never);
    expect(none).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const client = await newClient(world.issuer, { grant_types: ['authorization_code', GRANT] });
    const registered = await exchange(token, { client_id: client }, world, {} as never);
    expect(registered).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
    const own = await login(world);
    const itself = await exchange(own.tokens.access_token, { client_id: own.client }, world, {} as never);
    expect(itself).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });

  it('with alg none, or a body that was changed', async () => {
    const [header, , signature] = (await world.sign()).split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = encoded({ ...decodeJwt(await world.sign()), sub: 'admin' });
    for (const token of [`${encoded({ alg: 'none' })}.${payload}.`, `${header}.${payload}.${signature}`]) {
      expect(await exchange(token)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    }
    const { tokens } = await login(world);
    const [own = '', , mark = ''] = tokens.access_token.split('.');
    const forged = `${own}.${encoded({ ...decodeJwt(tokens.access_token), sub: 'admin' })}.${mark}`;
    expect((await exchange(forged)).status).toBe(400);
  });

  it('for a token of an issuer whose assertions alone are trusted', async () => {
    const at = await openTrusted(
      (other) => ({
        delegate_clients: [{ ...DELEGATE_CLIENT, scopes: ['weather'] }],
        trusted_issuers: [trustedBlock(other, { jwt_bearer_grant: BEARER })],
      }),
      () => ({ aud: RESOURCE, azp: ACTOR }),
    );
    expect((await exchange(await at.sign(), {}, at)).body.error).toBe('invalid_request');
    await at.close();
  });

  it('with 503 while the keys are unreachable', async () => {
    const at = await openExchange();
    const token = await at.sign();
    await at.other.stop();
    expect((await exchange(token, {}, at)).status).toBe(503);
    await at.close();
  });
});

describe('settings prevent the start', () => {
  const trust = { issuer_url: 'https://other.example', ...TRUST };
  it.each<{ reason: string; more: Partial<AuthServer> }>([
    { reason: 'the same client twice', more: { delegate_clients: [DELEGATE_CLIENT, DELEGATE_CLIENT] } },
    {
      reason: 'a scope that the server does not know',
      more: { delegate_clients: [{ ...DELEGATE_CLIENT, scopes: ['none'] }] },
    },
    {
      reason: 'a resource that the server does not know',
      more: { delegate_clients: [{ ...DELEGATE_CLIENT, audiences: ['https://x.example'] }] },
    },
    {
      reason: 'a secret that is missing',
      more: { delegate_clients: [{ ...DELEGATE_CLIENT, client_secret_env_var: 'NONE' }] },
    },
    { reason: 'secrets in the clear', more: { issuer: 'http://auth.example.com', insecure_allow_http: true } },
    { reason: 'no client', more: { trusted_issuers: [{ ...trust, allowed_delegate_clients: [] }] } },
    { reason: 'an unknown client', more: { trusted_issuers: [{ ...trust, allowed_delegate_clients: ['x'] }] } },
    {
      reason: 'all clients and one',
      more: { trusted_issuers: [{ ...trust, allowed_delegate_clients: ['*', DELEGATE.id] }] },
    },
    {
      reason: 'may_act for all clients',
      more: { trusted_issuers: [{ ...trust, allow_may_act: true, allowed_delegate_clients: ['*'] }] },
    },
    { reason: 'a broken expression', more: { trusted_issuers: [{ ...trust, actor_matcher: 'claims.' }] } },
    { reason: 'actors without an audience', more: { trusted_issuers: [{ ...trust, expected_audience: undefined }] } },
  ])('$reason', async ({ more }) => {
    const opened = openDirect({
      config: (at) => ({
        ...configOf(at, [oidcTo(at, { url: at } as never)]),
        scopes_supported: SCOPES,
        delegate_clients: [DELEGATE_CLIENT],
        ...more,
      }),
      environment: { DELEGATE_SECRET: DELEGATE.secret },
    });
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});

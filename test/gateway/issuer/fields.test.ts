// Tests that each setting of an authorization server has an effect: a row observes different results for two values of
// the setting, or the setting has a reason. In one file, because the rows are one table that must be complete.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { AUTH_SERVER_SCHEMA } from '#contracts/auth-server/config.ts';
import { Failure } from '#std/failure.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { MASTER_NAME, REDIS_USER, type SentinelWorld, startSentinel } from '../../harness/redis-sentinel.ts';
import { settingsOf, withSetting } from '../proxy/field-row.ts';
import { configOf, type DirectIssuer, oauth2To, oidcTo, openDirect, RESOURCE } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { BEARER, type TrustedBlock, trustedBlock, WORKLOAD } from './trusted.ts';
import { type AuthServer, authorizeUrl, newClient, newPkce, post, redeem, register, tokensOf } from './world.ts';

const PERSON = { id: 'U12', name: 'Ada', nick: 'ada', email: 'ada@example.com' };
const provider: RecordingProvider = await startRecordingProvider();
const other: RecordingProvider = await startRecordingProvider();
const redis: SentinelWorld | undefined = await startSentinel();
const secureRedis: SentinelWorld | undefined = await startSentinel({ servers: true, sentinel: true });
const deaf: Server = createServer();
await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
provider.answers = {
  '/register': () => ({ client_id: 'registered', client_secret: 'given' }),
  '/metadata': () => ({ issuer: provider.url, registration_endpoint: `${provider.url}/register` }),
  '/token': (answer) => ({
    ...answer,
    other_token: 'other-token',
    again: 'another-refresh',
    lives: 1,
    granted: 'all',
    person: PERSON,
  }),
};
afterAll(async () => {
  await Promise.all([provider.close(), other.close(), redis?.stop(), secureRedis?.stop()]);
  deaf.close();
});

const folder = mkdtempSync(join(tmpdir(), 'skep-fields-'));
function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
function pem(type: 'ec' | 'ed25519'): string {
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-384' }) : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
fileWith('one.pem', pem('ec'));
fileWith('two.pem', pem('ed25519'));
mkdtempSync(join(folder, 'empty-'));

interface Row {
  readonly field: string;
  readonly at?: string;
  /** Returns two values that must lead to different results. undefined removes the setting. */
  readonly values: (origin: string) => readonly [Json | undefined, Json | undefined];
  readonly base?: (origin: string) => Partial<AuthServer>;
  readonly see: (issuer: DirectIssuer) => Promise<unknown>;
}

// Functions that observe results.

async function visitOf(issuer: DirectIssuer): Promise<URL> {
  const place = await newPerson({ client: `${provider.url}/` }).visit(
    authorizeUrl(issuer, await newClient(issuer), newPkce()),
  );
  return place.url;
}

async function login(issuer: DirectIssuer, metadata: object = {}) {
  const [client, pkce] = [await newClient(issuer, metadata), newPkce()];
  const { url } = await newPerson().visit(authorizeUrl(issuer, client, pkce));
  const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? `none: ${url}`, pkce));
  const claims = decodeJwt(tokens.access_token);
  return { tokens, claims, token: await issuer.open.upstreamToken({ key: 'x', claims: claims as JsonObject }) };
}

const claim = (name: string) => async (issuer: DirectIssuer) => (await login(issuer)).claims[name];
const metadata =
  (name: string) =>
  async ({ issuer }: DirectIssuer) =>
    JSON.parse(await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).text())[name];
const asked =
  (path: string, read: (last: NonNullable<ReturnType<RecordingProvider['last']>>) => unknown) =>
  async (issuer: DirectIssuer) => {
    await login(issuer);
    const last = provider.last(path);
    return last === undefined ? undefined : read(last);
  };
const registeredMethod = (method: string) => async (issuer: DirectIssuer) => {
  const redirect_uris = ['https://app.example.com/back'];
  return (await register(issuer, { redirect_uris, token_endpoint_auth_method: method })).body
    .token_endpoint_auth_method;
};
async function keyIds(issuer: DirectIssuer): Promise<unknown> {
  const { alg } = decodeProtectedHeader((await login(issuer)).tokens.access_token);
  return [alg, issuer.open.publishedKeys().keys.map((key) => key.alg)];
}
async function authorizeError(issuer: DirectIssuer, more: Readonly<Record<string, string>>): Promise<unknown> {
  const place = await newPerson({ decision: 'look' }).visit(
    authorizeUrl(issuer, await newClient(issuer), newPkce(), more),
  );
  return place.url.searchParams.get('error');
}
async function timeToFail(issuer: DirectIssuer): Promise<unknown> {
  const began = performance.now();
  const { status } = await fetch(`${issuer.issuer}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'x' }),
  });
  return [status, performance.now() - began > 1500 ? 'late' : 'soon'];
}

/** Returns whether the count changes. */
const grows =
  (count: () => unknown, act: (issuer: DirectIssuer) => Promise<unknown>) => async (issuer: DirectIssuer) => {
    const before = await count();
    await act(issuer);
    return (await count()) !== before;
  };

// Functions that return settings.

const oauth2 =
  (more: object = {}) =>
  (origin: string) => ({ upstreams: [oauth2To(origin, provider, more)] });
const CONFIDENTIAL = {
  allow_confidential_client_registration: true,
  insecure_allow_confidential_over_loopback_http: true,
};
const mapping = {
  access_token_path: 'access_token',
  scope_path: 'scope',
  refresh_token_path: 'refresh_token',
  expires_in_path: 'expires_in',
};
const mapped = oauth2({ token_response_mapping: mapping });
const userInfo = (more: object = {}) => ({ endpoint_url: `${provider.url}/user`, http_method: 'GET', ...more });
const fields = (more: object = {}) => ({
  userinfo: userInfo({
    field_mapping: { subject_fields: ['sub'], name_fields: ['name'], email_fields: ['email'], ...more },
  }),
});
const override =
  (more: object = {}) =>
  (origin: string) => ({ upstreams: [oidcTo(origin, provider, { userinfo_override: userInfo(more) })] });
const overriding = override({
  field_mapping: { subject_fields: ['sub'], name_fields: ['name'], email_fields: ['email'] },
});

const OIDC = '/upstreams/0/oidc_config';
const OAUTH2 = '/upstreams/0/oauth2_config';
const REDIS = '/storage/redis_config';

function redisConfig(world: SentinelWorld | undefined, more: object = {}): { storage: AuthServer['storage'] } {
  return {
    storage: {
      type: 'redis',
      redis_config: {
        sentinel_config: { master_name: MASTER_NAME, sentinel_addrs: [world?.sentinel ?? ''], db: 0 },
        auth_type: 'aclUser',
        acl_user_config: { username_env_var: 'REDIS_USER', password_env_var: 'REDIS_PASSWORD' },
        key_prefix: 'thv:auth:{tests:weather}:',
        dial_timeout: '2s',
        read_timeout: '300ms',
        write_timeout: '300ms',
        ...more,
      },
    },
  };
}
const deafAddress = () => {
  const address = deaf.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
};
const deafRedis = (more: object) => () =>
  redisConfig(redis, {
    sentinel_config: { master_name: MASTER_NAME, sentinel_addrs: [deafAddress()], db: 0 },
    ...more,
  });
async function registers(issuer: DirectIssuer): Promise<unknown> {
  return (
    await fetch(`${issuer.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"redirect_uris":["http://127.0.0.1/back"]}',
    })
  ).status;
}
const ENVIRONMENT = {
  SECRET: 'first',
  OTHER: 'second',
  REDIS_USER: REDIS_USER.name,
  REDIS_PASSWORD: REDIS_USER.password,
  WRONG: 'wrong',
};
const file = (name: string, text: string) => fileWith(name, text);

function infoRows(place: string, field: string, base: (origin: string) => Partial<AuthServer>): Row[] {
  const mappingAt = `${place}/field_mapping`;
  const mappingField = `${field}/field_mapping`;
  return [
    {
      field: `${field}/endpoint_url`,
      at: `${place}/endpoint_url`,
      values: () => [`${provider.url}/user`, `${provider.url}/me`],
      base,
      see: grows(() => provider.count('/me'), login),
    },
    {
      field: `${field}/http_method`,
      at: `${place}/http_method`,
      values: () => ['GET', 'POST'],
      base,
      see: asked('/user', ({ method }) => method),
    },
    {
      field: `${field}/additional_headers`,
      at: `${place}/additional_headers`,
      values: () => [{ 'x-api': '1' }, undefined],
      base,
      see: asked('/user', ({ headers }) => headers['x-api']),
    },
    {
      field: `${mappingField}/subject_fields`,
      at: `${mappingAt}/subject_fields`,
      values: () => [['sub'], ['none', 'id']],
      base,
      see: claim('sub'),
    },
    {
      field: `${mappingField}/name_fields`,
      at: `${mappingAt}/name_fields`,
      values: () => [['name'], ['login']],
      base,
      see: claim('name'),
    },
    {
      field: `${mappingField}/email_fields`,
      at: `${mappingAt}/email_fields`,
      values: () => [['email'], ['mail']],
      base,
      see: claim('email'),
    },
  ];
}

function clientRows(place: string, field: string, base: (origin: string) => Partial<AuthServer>): Row[] {
  const secret = asked('/token', ({ form }) => form.get('client_secret'));
  return [
    {
      field: `${field}/client_id`,
      at: `${place}/client_id`,
      values: () => ['skep', 'other'],
      base,
      see: async (issuer) => (await visitOf(issuer)).searchParams.get('client_id'),
    },
    {
      field: `${field}/client_secret_env_var`,
      at: `${place}/client_secret_env_var`,
      values: () => ['SECRET', 'OTHER'],
      base,
      see: secret,
    },
    {
      field: `${field}/client_secret_file`,
      at: `${place}/client_secret_file`,
      values: () => [file('a', 'in a file'), undefined],
      base,
      see: secret,
    },
    {
      field: `${field}/redirect_uri`,
      at: `${place}/redirect_uri`,
      values: (origin) => [`${origin}/oauth/callback`, `${origin}/back`],
      base,
      see: async (issuer) => new URL((await visitOf(issuer)).searchParams.get('redirect_uri') ?? '').pathname,
    },
    {
      field: `${field}/scopes`,
      at: `${place}/scopes`,
      values: () => [['openid'], ['openid', 'repo']],
      base,
      see: async (issuer) => (await visitOf(issuer)).searchParams.get('scope'),
    },
    {
      field: `${field}/additional_authorization_params`,
      at: `${place}/additional_authorization_params`,
      values: () => [{ access_type: 'offline' }, undefined],
      base,
      see: async (issuer) => (await visitOf(issuer)).searchParams.get('access_type'),
    },
  ];
}

function identityRows(): Row[] {
  const paths = { subject_path: 'person.id', name_path: 'person.name', email_path: 'id_token|@upstreamjwt|iss' };
  const row = (key: string, other: string, name: string): Row => ({
    field: `/upstreams/*/oauth2_config/identity_from_token/${key}`,
    at: `${OAUTH2}/identity_from_token/${key}`,
    values: () => [paths[key as keyof typeof paths], other],
    base: oauth2({ userinfo: undefined, identity_from_token: paths }),
    see: claim(name),
  });
  return [
    row('subject_path', 'id_token|@upstreamjwt|sub', 'sub'),
    row('name_path', 'person.nick', 'name'),
    row('email_path', 'person.email', 'email'),
  ];
}

function registrationRows(): Row[] {
  const registration = { registration_endpoint: `${provider.url}/register`, initial_access_token_env_var: 'SECRET' };
  const field = '/upstreams/*/oauth2_config/dcr_config';
  const body = (name: string) => asked('/register', (last) => JSON.parse(last.body)[name]);
  const token = asked('/register', ({ headers }) => headers.authorization);
  const row = (key: string, values: Row['values'], see: Row['see']): Row => ({
    field: `${field}/${key}`,
    at: `${OAUTH2}/dcr_config/${key}`,
    values,
    base: oauth2({ client_id: undefined, dcr_config: registration }),
    see,
  });
  return [
    row(
      'registration_endpoint',
      () => [`${provider.url}/register`, `${provider.url}/none`],
      (issuer) => login(issuer),
    ),
    row('initial_access_token_env_var', () => ['SECRET', 'OTHER'], token),
    row('initial_access_token_file', () => [undefined, file('initial', 'in a file')], token),
    row('software_id', () => [undefined, 'skep'], body('software_id')),
    row('software_statement', () => [undefined, 'a.b.c'], body('software_statement')),
    {
      ...row(
        'discovery_url',
        () => [`${provider.url}/metadata`, `${provider.url}/nothing`],
        (issuer) => login(issuer),
      ),
      base: oauth2({ client_id: undefined, dcr_config: { discovery_url: '' } }),
    },
  ];
}

/** Issuer of the tokens for grants and exchanges. */
const trustedIssuer: Issuer = await startIssuer();
afterAll(() => trustedIssuer.close());

const GRANTS = 'urn:ietf:params:oauth:grant-type:';
const BASE_CLAIMS = { sub: WORKLOAD, azp: 'app', appid: 'app', scope: 'openid weather' };

async function claimsNow(): Promise<JWTPayload> {
  const now = Math.floor(Date.now() / 1000);
  return { ...BASE_CLAIMS, iss: trustedIssuer.url, iat: now, exp: now + 60, jti: crypto.randomUUID() };
}

/** Returns the result of a grant with an assertion of the other issuer. `aud` is the assertion's audience. */
const assertionGives =
  (aud?: string) =>
  async ({ issuer }: DirectIssuer) => {
    const assertion = await trustedIssuer.sign({ ...(await claimsNow()), aud: aud ?? `${issuer}/oauth/token` });
    const form = { grant_type: `${GRANTS}jwt-bearer`, assertion, resource: RESOURCE };
    const { status, body } = await post(`${issuer}/oauth/token`, form);
    return [status, body.error];
  };

/** Returns the result of an exchange by a delegate client with a token of the other issuer. */
const exchangeGives =
  (claims: JWTPayload | ((origin: string) => JWTPayload) = {}, form: Readonly<Record<string, string>> = {}) =>
  async ({ issuer }: DirectIssuer) => {
    const more = typeof claims === 'function' ? claims(issuer) : claims;
    const { status, body } = await post(`${issuer}/oauth/token`, {
      grant_type: `${GRANTS}token-exchange`,
      subject_token: await trustedIssuer.sign({ ...(await claimsNow()), aud: RESOURCE, ...more }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      client_id: 'delegate',
      client_secret: 'first',
      ...form,
    });
    return [status, body.error, body.scope];
  };

function trustRows(): Row[] {
  const client = {
    client_id: 'delegate',
    client_secret_env_var: 'SECRET',
    scopes: ['openid', 'weather'],
    audiences: [RESOURCE],
  };
  const trusting = (more: Partial<TrustedBlock> = {}) => ({
    delegate_clients: [client, { ...client, client_id: 'other' }],
    trusted_issuers: [
      trustedBlock(trustedIssuer, {
        expected_audience: RESOURCE,
        allowed_actors: ['app'],
        allowed_delegate_clients: ['delegate'],
        jwt_bearer_grant: BEARER,
        ...more,
      }),
    ],
  });
  const issuerRow = (key: string, values: Row['values'], see: Row['see'], more: Partial<TrustedBlock> = {}): Row => ({
    field: `/trusted_issuers/*/${key}`,
    at: `/trusted_issuers/0/${key}`,
    values,
    base: () => trusting(more),
    see,
  });
  const clientRow = (key: string, values: Row['values'], see: Row['see']): Row => ({
    field: `/delegate_clients/*/${key}`,
    at: `/delegate_clients/0/${key}`,
    values,
    base: () => trusting(),
    see,
  });
  const binding = { subject: WORKLOAD, allowed_resources: [RESOURCE] };
  const bearerRow = (key: string, values: Row['values'], see: Row['see'] = assertionGives()): Row => ({
    ...issuerRow(`jwt_bearer_grant/${key}`, values, see),
  });
  const mayAct = exchangeGives((iss) => ({ may_act: { iss, sub: 'delegate' } }));
  return [
    issuerRow('issuer_url', () => [trustedIssuer.url, 'https://other.example.com'], exchangeGives()),
    issuerRow('jwks_url', () => [trustedIssuer.jwksUrl, `${trustedIssuer.url}/none`], exchangeGives()),
    issuerRow('insecure_allow_http', () => [true, undefined], exchangeGives()),
    issuerRow('allow_private_ips', () => [true, undefined], exchangeGives()),
    issuerRow('expected_audience', () => [RESOURCE, 'other'], exchangeGives()),
    issuerRow('actor_claim', () => ['appid', 'cid'], exchangeGives()),
    issuerRow('allowed_actors', () => [['app'], ['other']], exchangeGives()),
    issuerRow('actor_matcher', () => ['claims.azp == "app"', 'claims.azp == "x"'], exchangeGives(), {
      allowed_actors: undefined,
    }),
    issuerRow('allow_may_act', () => [true, undefined], mayAct),
    issuerRow('allowed_delegate_clients', () => [['delegate'], ['other']], exchangeGives()),
    bearerRow(
      'accepted_audiences',
      () => [['https://auth.example.com'], undefined],
      assertionGives('https://auth.example.com'),
    ),
    bearerRow('max_assertion_age', () => ['1m', '30s']),
    {
      ...bearerRow('subject_bindings/*/subject', () => [WORKLOAD, 'somebody']),
      at: '/trusted_issuers/0/jwt_bearer_grant/subject_bindings/0/subject',
    },
    {
      ...bearerRow('subject_bindings/*/allowed_resources', () => [[RESOURCE], ['https://other.example.com/mcp']]),
      at: '/trusted_issuers/0/jwt_bearer_grant/subject_bindings/0/allowed_resources',
      base: () => ({
        ...trusting({ jwt_bearer_grant: { ...BEARER, subject_bindings: [binding] } }),
        allowed_audiences: [RESOURCE, 'https://other.example.com/mcp'],
      }),
    },
    clientRow('client_id', () => ['delegate', 'another'], exchangeGives()),
    clientRow('client_secret_env_var', () => ['SECRET', 'OTHER'], exchangeGives()),
    clientRow('client_secret_file', () => [undefined, file('delegate', 'in a file')], exchangeGives()),
    clientRow('scopes', () => [['openid', 'weather'], ['openid']], exchangeGives()),
    {
      ...clientRow('audiences', () => [[RESOURCE], ['https://other.example.com/mcp']], exchangeGives()),
      base: () => ({ ...trusting(), allowed_audiences: [RESOURCE, 'https://other.example.com/mcp'] }),
    },
  ];
}

const ROWS: readonly Row[] = [
  ...trustRows(),
  { field: '/issuer', values: (origin) => [origin, `${origin}/below`], see: metadata('authorization_endpoint') },
  {
    field: '/insecure_allow_http',
    values: () => [undefined, true],
    base: () => ({ issuer: 'http://auth.example.com' }),
    see: async () => 'it starts',
  },
  {
    field: '/authorization_endpoint_base_url',
    values: () => [undefined, 'https://login.example.com/here'],
    see: metadata('authorization_endpoint'),
  },
  {
    field: '/signing_key_config/key_dir',
    values: () => [folder, join(folder, 'none')],
    base: () => ({ signing_key_config: { key_dir: folder, signing_key_file: 'one.pem' } }),
    see: keyIds,
  },
  {
    field: '/signing_key_config/signing_key_file',
    values: () => ['one.pem', 'two.pem'],
    base: () => ({ signing_key_config: { key_dir: folder, signing_key_file: 'one.pem' } }),
    see: keyIds,
  },
  {
    field: '/signing_key_config/fallback_key_files',
    values: () => [undefined, ['two.pem']],
    base: () => ({ signing_key_config: { key_dir: folder, signing_key_file: 'one.pem' } }),
    see: keyIds,
  },
  { field: '/hmac_secret_files', values: () => [[file('hmac', 'x'.repeat(32))], [file('short', 'x')]], see: registers },
  {
    field: '/token_lifespans/access_token_lifespan',
    values: () => ['1h', '5m'],
    see: async (issuer) => (await login(issuer)).tokens.expires_in,
  },
  { field: '/token_lifespans/refresh_token_lifespan', values: () => ['168h', '721h'], see: registers },
  { field: '/token_lifespans/auth_code_lifespan', values: () => ['10m', '11m'], see: registers },
  {
    field: '/upstreams/*/name',
    at: '/upstreams/0/name',
    values: () => ['login', 'company'],
    see: async (issuer) =>
      (
        await newPerson({ decision: 'look' }).visit(authorizeUrl(issuer, await newClient(issuer), newPkce()))
      ).text.includes('company'),
  },
  { field: '/upstreams/*/type', at: '/upstreams/0/type', values: () => ['oidc', 'oauth2'], see: registers },
  {
    field: '/upstreams/*/oidc_config/issuer_url',
    at: `${OIDC}/issuer_url`,
    values: () => [provider.url, other.url],
    see: grows(() => other.count('/token'), login),
  },
  ...clientRows(OIDC, '/upstreams/*/oidc_config', (origin) => ({ upstreams: [oidcTo(origin, provider)] })),
  ...infoRows(`${OIDC}/userinfo_override`, '/upstreams/*/oidc_config/userinfo_override', overriding),
  {
    field: '/upstreams/*/oauth2_config/authorization_endpoint',
    at: `${OAUTH2}/authorization_endpoint`,
    values: () => [`${provider.url}/authorize`, `${provider.url}/other/authorize`],
    base: oauth2(),
    see: async (issuer) => (await visitOf(issuer)).pathname,
  },
  {
    field: '/upstreams/*/oauth2_config/token_endpoint',
    at: `${OAUTH2}/token_endpoint`,
    values: () => [`${provider.url}/token`, `${provider.url}/other/token`],
    base: oauth2(),
    see: grows(() => provider.count('/other/token'), login),
  },
  ...clientRows(OAUTH2, '/upstreams/*/oauth2_config', oauth2()),
  ...identityRows(),
  ...registrationRows(),
  {
    field: '/upstreams/*/oauth2_config/insecure_allow_http',
    at: `${OAUTH2}/insecure_allow_http`,
    values: () => [undefined, false],
    base: oauth2({ token_endpoint: 'http://forge.example.com/token' }),
    see: async () => 'it starts',
  },
  {
    field: '/upstreams/*/oauth2_config/allow_private_ips',
    at: `${OAUTH2}/allow_private_ips`,
    values: () => [undefined, false],
    base: oauth2(),
    see: async (issuer) => (await login(issuer)).tokens.scope,
  },
  {
    field: '/upstreams/*/oidc_config/subject_claim',
    at: `${OIDC}/subject_claim`,
    values: () => [undefined, 'aud'],
    see: claim('sub'),
  },
  ...infoRows(`${OAUTH2}/userinfo`, '/upstreams/*/oauth2_config/userinfo', oauth2(fields())),
  {
    field: '/upstreams/*/oauth2_config/token_response_mapping/access_token_path',
    at: `${OAUTH2}/token_response_mapping/access_token_path`,
    values: () => ['access_token', 'other_token'],
    base: mapped,
    see: async (issuer) => (await login(issuer)).token,
  },
  {
    field: '/upstreams/*/oauth2_config/token_response_mapping/refresh_token_path',
    at: `${OAUTH2}/token_response_mapping/refresh_token_path`,
    values: () => ['refresh_token', 'again'],
    base: oauth2({ token_response_mapping: { ...mapping, expires_in_path: 'lives' } }),
    see: asked('/token', ({ form }) => form.get('refresh_token')),
  },
  {
    field: '/upstreams/*/oauth2_config/token_response_mapping/expires_in_path',
    at: `${OAUTH2}/token_response_mapping/expires_in_path`,
    values: () => ['expires_in', 'lives'],
    base: mapped,
    see: asked('/token', ({ form }) => form.get('grant_type')),
  },
  { field: '/cimd/enabled', values: () => [true, false], see: metadata('client_id_metadata_document_supported') },
  { field: '/scopes_supported', values: () => [['openid'], ['openid', 'weather']], see: metadata('scopes_supported') },
  {
    field: '/baseline_client_scopes',
    values: () => [undefined, ['openid']],
    base: () => ({ scopes_supported: ['openid', 'weather', 'storm'] }),
    see: async (issuer) => (await login(issuer, { scope: 'weather' })).tokens.scope,
  },
  {
    field: '/allow_confidential_client_registration',
    values: () => [undefined, true],
    base: () => ({ insecure_allow_confidential_over_loopback_http: true }),
    see: registeredMethod('client_secret_basic'),
  },
  {
    field: '/force_confidential_redirect_uris',
    values: () => [undefined, ['https://app.example.com/back']],
    base: () => CONFIDENTIAL,
    see: registeredMethod('none'),
  },
  {
    field: '/insecure_allow_confidential_over_loopback_http',
    values: () => [undefined, true],
    base: () => CONFIDENTIAL,
    see: registers,
  },
  {
    field: '/allowed_audiences',
    values: () => [[RESOURCE], ['https://other.example.com/mcp']],
    see: (issuer) => authorizeError(issuer, { resource: RESOURCE }),
  },
];

const REDIS_ROWS: readonly Row[] = [
  {
    field: '/storage/type',
    values: () => ['redis', 'memory'],
    base: () => redisConfig(redis),
    see: grows(async () => (await redis?.keys())?.length, registers),
  },
  {
    field: `${REDIS}/addr`,
    values: () => [redis?.master ?? '', deafAddress()],
    base: () => redisConfig(redis, { sentinel_config: undefined }),
    see: registers,
  },
  {
    field: `${REDIS}/cluster_mode`,
    values: () => [false, true],
    base: () => redisConfig(redis, { sentinel_config: undefined, addr: redis?.master }),
    see: registers,
  },
  {
    field: `${REDIS}/sentinel_config/master_name`,
    values: () => [MASTER_NAME, 'none'],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/sentinel_config/sentinel_addrs`,
    values: () => [[redis?.sentinel ?? ''], ['no port']],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/sentinel_config/db`,
    values: () => [0, 1],
    base: () => redisConfig(redis),
    see: grows(async () => (await redis?.keys())?.length, registers),
  },
  {
    field: `${REDIS}/acl_user_config/username_env_var`,
    values: () => ['REDIS_USER', 'WRONG'],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/acl_user_config/password_env_var`,
    values: () => ['REDIS_PASSWORD', 'WRONG'],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/acl_user_config/username_file`,
    values: () => [undefined, file('user', 'wrong')],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/acl_user_config/password_file`,
    values: () => [undefined, file('password', 'wrong')],
    base: () => redisConfig(redis),
    see: registers,
  },
  {
    field: `${REDIS}/key_prefix`,
    values: () => ['thv:auth:{tests:weather}:', 'elsewhere:'],
    base: () => redisConfig(redis),
    see: registers,
  },
  { field: `${REDIS}/dial_timeout`, values: () => ['2s', '0s'], base: () => redisConfig(redis), see: registers },
  {
    field: `${REDIS}/read_timeout`,
    values: () => ['100ms', '3s'],
    base: deafRedis({ write_timeout: '100ms' }),
    see: timeToFail,
  },
  {
    field: `${REDIS}/write_timeout`,
    values: () => ['100ms', '3s'],
    base: deafRedis({ read_timeout: '100ms' }),
    see: timeToFail,
  },
  ...(['tls', 'sentinel_tls'] as const).flatMap((each): Row[] => {
    const base = () =>
      redisConfig(secureRedis, { tls: { insecure_skip_verify: true }, sentinel_tls: { insecure_skip_verify: true } });
    return [
      { field: `${REDIS}/${each}/insecure_skip_verify`, values: () => [true, false], base, see: registers },
      {
        field: `${REDIS}/${each}/ca_cert_file`,
        at: `${REDIS}/${each}`,
        values: () => [
          { insecure_skip_verify: false, ca_cert_file: secureRedis?.caFile },
          { insecure_skip_verify: false },
        ],
        base,
        see: registers,
      },
    ];
  }),
];

/** Reasons of the settings without a row. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  '/schema_version': 'there is one version',
  '/cimd/cache_max_size': 'its story is in test/gateway/issuer/documents.test.ts',
  '/cimd/cache_fallback_ttl': 'its story is in test/gateway/issuer/documents.test.ts',
  '/primary_upstream_provider': 'its story is a call: test/gateway/issuer/primary-provider.test.ts',
  '/disable_upstream_token_injection': 'its story is a call: test/gateway/credentials/of-config.test.ts',
  [`${REDIS}/auth_type`]: 'there is one type',
  '/upstreams/*/ca_bundle_path': 'its stories need a provider over TLS: test/gateway/issuer/upstreams.test.ts',
  '/upstreams/*/oauth2_config/token_response_mapping/scope_path':
    'what a provider grants is between it and the server behind: nothing here depends on it',
};

test('every setting of the schema has a row or a reason, and no other setting has', () => {
  const known = [...ROWS, ...REDIS_ROWS].map(({ field }) => field);
  expect([...new Set([...known, ...Object.keys(WITHOUT_ROW)])].toSorted()).toEqual(
    settingsOf(AUTH_SERVER_SCHEMA).toSorted(),
  );
});

async function seen({ field, at = field, values, base, see }: Row, index: 0 | 1): Promise<unknown> {
  try {
    const issuer = await openDirect({
      config: (origin) => {
        const whole = { ...configOf(origin, [oidcTo(origin, provider)]), ...base?.(origin) };
        return withSetting(whole as JsonObject, at, values(origin)[index]) as AuthServer;
      },
      environment: ENVIRONMENT,
    });
    try {
      return await see(issuer);
    } finally {
      await issuer.close();
    }
  } catch (error) {
    return error instanceof Failure ? error.message : String(error);
  }
}

describe.each(ROWS.map((row) => [row.field, row] as const))('%s', (_name, row) => {
  test('has its effect', async () => expect(await seen(row, 0)).not.toEqual(await seen(row, 1)));
});

describe.each(REDIS_ROWS.map((row) => [row.field, row] as const))('%s', (_name, row) => {
  test('has its effect', async ({ skip }) => {
    if (redis === undefined) return skip();
    expect(await seen(row, 0)).not.toEqual(await seen(row, 1));
  });
});

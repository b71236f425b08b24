// Lists the tests of settings for authentication and authorisation of callers, and for outgoing authentication. In one
// file, because most rows of both subjects need a proxy that authenticates callers by tokens of the same issuer.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunConfig } from '#contracts/run-config.ts';
import { readProxyConfig } from '#hosts/proxy/config.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import type { Environment } from '#std/environment.ts';
import { INTROSPECTION_CLIENT } from '../../harness/issuer.ts';
import type { FieldRow } from './field-row.ts';
import { API_SERVER_ISSUER, beforeBackend, type FieldWorld, leaving, proxied } from './field-world.ts';
import { callTool, get } from './world.ts';

type Oidc = NonNullable<RunConfig['oidc_config']>;

function withCallers(world: FieldWorld, oidc: Partial<Oidc> = {}): Partial<RunConfig> {
  const { issuer } = world;
  return {
    ...beforeBackend(world),
    oidc_config: {
      issuer: issuer.url,
      audience: 'fields',
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: 'https://fields.example/mcp',
      scopes: [],
      ...oidc,
    },
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const byToken = (claims?: (world: FieldWorld) => Record<string, unknown>) => async (world: FieldWorld) =>
  bearer(await world.token(claims?.(world)));

/** Observes the status of a call with a token of the issuer. */
const accepted = (claims?: (world: FieldWorld) => Record<string, unknown>) =>
  proxied(async (proxy, world) => (await callTool(proxy, 'echo', {}, await byToken(claims)(world))).status);

/** Observes the status of a call with an opaque token, which needs introspection. */
const acceptedOpaque = proxied(async (proxy, { issuer }) => {
  return (await callTool(proxy, 'echo', {}, bearer(await issuer.token('opaque', 'https://fields.example/mcp')))).status;
});

const introspecting = (world: FieldWorld) =>
  withCallers(world, {
    audience: undefined,
    introspection_url: world.issuer.introspectionUrl,
    client_id: INTROSPECTION_CLIENT.id,
    client_secret_file: world.file('introspection', INTROSPECTION_CLIENT.secret),
  });

const metadata = (key: string) =>
  proxied(async ({ origin }) => (await get(`${origin}/.well-known/oauth-protected-resource`)).json[key]);

/** Returns true if the configuration file can be read. Used for settings that have no other effect. */
async function isRead(config: RunConfig, { folder }: FieldWorld): Promise<boolean> {
  const file = join(folder, 'read.json');
  writeFileSync(file, JSON.stringify({ ...config, port: 80 }));
  readProxyConfig(createWatchedFiles(), file);
  return true;
}

const NO_ISSUER = 'http://127.0.0.1:9/none';

const CALLERS: readonly FieldRow[] = [
  {
    field: '/oidc_config/issuer',
    value: ({ issuer }) => issuer.url,
    ignored: ({ otherIssuer }) => otherIssuer.url,
    base: withCallers,
    see: accepted(),
    expected: 200,
  },
  {
    field: '/oidc_config/issuer_is_api_server',
    value: true,
    ignored: false,
    base: (world) => withCallers(world, { issuer: world.apiServer.url }),
    see: accepted(() => ({ iss: API_SERVER_ISSUER })),
    expected: 200,
  },
  ...(['namespace', 'name'] as const).map(
    (key): FieldRow => ({
      field: `/oidc_config/service_account/${key}`,
      value: 'callers',
      ignored: 'other',
      base: (world) => withCallers(world, { service_account: { namespace: 'callers', name: 'callers' } }),
      see: accepted(() => ({
        sub: 'system:serviceaccount:callers:callers',
        'kubernetes.io': { namespace: 'callers', serviceaccount: { name: 'callers' } },
      })),
      expected: 200,
    }),
  ),
  { field: '/oidc_config/audience', value: 'fields', base: withCallers, see: accepted(), expected: 200 },
  {
    field: '/oidc_config/jwks_url',
    value: ({ issuer }) => issuer.jwksUrl,
    base: (world) => withCallers(world, { issuer: NO_ISSUER }),
    see: accepted(() => ({ iss: NO_ISSUER })),
    expected: 200,
  },
  {
    field: '/oidc_config/introspection_url',
    value: ({ issuer }) => issuer.introspectionUrl,
    base: introspecting,
    see: acceptedOpaque,
    expected: 200,
  },
  {
    field: '/oidc_config/client_id',
    value: INTROSPECTION_CLIENT.id,
    base: introspecting,
    see: acceptedOpaque,
    expected: 200,
  },
  {
    field: '/oidc_config/client_secret_file',
    value: ({ file }) => file('introspection', INTROSPECTION_CLIENT.secret),
    base: introspecting,
    see: acceptedOpaque,
    expected: 200,
  },
  {
    field: '/oidc_config/ca_bundle_path',
    value: ({ authorityFile }) => authorityFile,
    base: (world) => withCallers(world, { jwks_url: `${world.keysOverTls.url}/jwks` }),
    see: accepted(),
    expected: 200,
  },
  {
    field: '/oidc_config/auth_token_file',
    value: ({ file }) => file('issuer-token', 'file-token'),
    base: (world) => withCallers(world, { jwks_url: `${world.keysForToken.url}/jwks` }),
    see: accepted(),
    expected: 200,
  },
  {
    field: '/oidc_config/jwks_allow_private_ip',
    value: true,
    ignored: false,
    base: withCallers,
    see: accepted(),
    expected: 200,
  },
  {
    field: '/oidc_config/protected_resource_allow_private_ip',
    value: true,
    ignored: false,
    base: introspecting,
    see: acceptedOpaque,
    expected: 200,
  },
  {
    field: '/oidc_config/insecure_allow_http',
    value: true,
    ignored: false,
    base: (world) => withCallers(world, { issuer: 'http://issuer.example' }),
    see: isRead,
    expected: true,
  },
  {
    field: '/oidc_config/resource_url',
    value: 'https://story.example/mcp',
    ignored: 'https://fields.example/mcp',
    base: withCallers,
    see: metadata('resource'),
    expected: 'https://story.example/mcp',
  },
  {
    field: '/oidc_config/scopes',
    value: ['tools'],
    ignored: [],
    base: withCallers,
    see: metadata('scopes_supported'),
    expected: ['tools'],
  },
  {
    field: '/remove_caller_token',
    value: true,
    base: withCallers,
    see: leaving((headers) => headers.authorization ?? 'none', byToken()),
    expected: 'none',
  },
];

type Exchange = NonNullable<RunConfig['token_exchange_config']>;

const exchanging =
  (more: Partial<Exchange> = {}) =>
  (world: FieldWorld): Partial<RunConfig> => ({
    ...withCallers(world),
    token_exchange_config: {
      token_url: `${world.exchange.url}/token`,
      audience: 'server',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      header_strategy: 'replace',
      ...more,
    },
  });

/** Observes the request to the token endpoint. */
const asked = (pick: (form: URLSearchParams, authorization: string | undefined) => unknown) =>
  proxied(async (proxy, world) => {
    await callTool(proxy, 'echo', {}, await byToken()(world));
    const last = world.exchange.asked.at(-1);
    return last === undefined ? undefined : pick(last.form, last.headers.authorization);
  });

const basic = (secret: string) => `Basic ${Buffer.from(`proxy:${secret}`).toString('base64')}`;
const exchange = (key: keyof Exchange, rest: Omit<FieldRow, 'field' | 'base'> & Partial<FieldRow>): FieldRow => ({
  field: `/token_exchange_config/${key}`,
  base: exchanging(),
  ...rest,
});
const JWT = 'urn:ietf:params:oauth:token-type:jwt';

const EXCHANGES: readonly FieldRow[] = [
  exchange('token_url', {
    value: ({ otherExchange }) => `${otherExchange.url}/token`,
    ignored: ({ exchange: own }) => `${own.url}/token`,
    see: proxied(async (proxy, world) => {
      const before = world.otherExchange.asked.length;
      await callTool(proxy, 'echo', {}, await byToken()(world));
      return world.otherExchange.asked.length - before;
    }),
    expected: 1,
  }),
  exchange('ca_bundle_path', {
    value: ({ authorityFile }) => authorityFile,
    base: (world) => exchanging({ token_url: `${world.exchangeOverTls.url}/token` })(world),
    see: proxied(async (proxy, world) => {
      const before = world.exchangeOverTls.asked.length;
      await callTool(proxy, 'echo', {}, await byToken()(world));
      return world.exchangeOverTls.asked.length - before;
    }),
    expected: 1,
  }),
  exchange('client_id', { value: 'proxy', see: asked((form) => form.get('client_id')), expected: 'proxy' }),
  exchange('client_secret_env_var', {
    value: 'STORY_SECRET',
    base: exchanging({ client_id: 'proxy' }),
    environment: () => ({ STORY_SECRET: 'of-the-variable' }),
    see: asked((_form, authorization) => authorization),
    expected: basic('of-the-variable'),
  }),
  exchange('client_secret_file', {
    value: ({ file }) => file('client-secret', 'of-the-file'),
    base: exchanging({ client_id: 'proxy', client_secret_env_var: 'STORY_SECRET' }),
    environment: () => ({ STORY_SECRET: 'of-the-variable' }),
    see: asked((_form, authorization) => authorization),
    expected: basic('of-the-file'),
  }),
  exchange('audience', {
    value: 'story',
    ignored: 'server',
    see: asked((form) => form.get('audience')),
    expected: 'story',
  }),
  exchange('scopes', { value: ['read', 'write'], see: asked((form) => form.get('scope')), expected: 'read write' }),
  exchange('subject_token_type', {
    value: JWT,
    ignored: 'urn:ietf:params:oauth:token-type:access_token',
    see: asked((form) => form.get('subject_token_type')),
    expected: JWT,
  }),
  exchange('header_strategy', {
    value: 'custom',
    ignored: 'replace',
    base: exchanging({ external_token_header_name: 'X-Story' }),
    see: leaving((headers) => String(headers['x-story']).includes('exchanged'), byToken()),
    expected: true,
  }),
  exchange('external_token_header_name', {
    value: 'X-Other',
    ignored: 'X-Story',
    base: exchanging({ header_strategy: 'custom' }),
    see: leaving((headers) => String(headers['x-other']).includes('exchanged'), byToken()),
    expected: true,
  }),
];

const ENVIRONMENT = (): Environment => ({ STORY_SECRET: 'of-the-variable', TOOLHIVE_SECRET_STORY: 'of-the-secret' });
const remote = ({ backend }: FieldWorld): Partial<RunConfig> => ({ remote_url: `${backend.url}/mcp` });

const HEADERS: readonly FieldRow[] = [
  {
    field: '/header_forward/add_plaintext_headers',
    value: { 'X-Story': 'plain' },
    base: remote,
    see: leaving((headers) => headers['x-story']),
    expected: 'plain',
  },
  {
    field: '/header_forward/add_headers_from_secret',
    value: { 'X-Story': 'STORY' },
    base: remote,
    environment: ENVIRONMENT,
    see: leaving((headers) => headers['x-story']),
    expected: 'of-the-secret',
  },
  {
    field: '/header_forward/add_headers_from_file',
    value: ({ file }) => ({ 'X-Story': file('forwarded', 'of-the-file') }),
    base: remote,
    see: leaving((headers) => headers['x-story']),
    expected: 'of-the-file',
  },
  {
    field: '/header_injection_config/header_name',
    value: 'X-Story',
    ignored: 'X-Other',
    base: (world) => ({
      ...beforeBackend(world),
      header_injection_config: { header_name: 'X-Other', value_env_var: 'STORY_SECRET' },
    }),
    environment: ENVIRONMENT,
    see: leaving((headers) => headers['x-story']),
    expected: 'of-the-variable',
  },
  {
    field: '/header_injection_config/value_env_var',
    value: 'STORY_SECRET',
    base: (world) => ({ ...beforeBackend(world), header_injection_config: { header_name: 'X-Story' } }),
    environment: ENVIRONMENT,
    see: leaving((headers) => headers['x-story']),
    expected: 'of-the-variable',
  },
  {
    field: '/header_injection_config/value_file',
    value: ({ file }) => file('injected', 'of-the-file'),
    base: (world) => ({
      ...beforeBackend(world),
      header_injection_config: { header_name: 'X-Story', value_env_var: 'STORY_SECRET' },
    }),
    environment: ENVIRONMENT,
    see: leaving((headers) => headers['x-story']),
    expected: 'of-the-file',
  },
  {
    field: '/bearer_token_config/token_env_var',
    value: 'STORY_SECRET',
    base: beforeBackend,
    environment: ENVIRONMENT,
    see: leaving((headers) => headers.authorization),
    expected: 'Bearer of-the-variable',
  },
  {
    field: '/bearer_token_config/token_file',
    value: ({ file }) => file('bearer', 'of-the-file'),
    base: (world) => ({ ...beforeBackend(world), bearer_token_config: { token_env_var: 'STORY_SECRET' } }),
    environment: ENVIRONMENT,
    see: leaving((headers) => headers.authorization),
    expected: 'Bearer of-the-file',
  },
];

type Sts = NonNullable<RunConfig['aws_sts_config']>;
const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`;

const assuming =
  (more: Partial<Sts> = {}) =>
  (world: FieldWorld): Partial<RunConfig> => ({
    ...withCallers(world),
    aws_sts_config: {
      region: 'eu-central-1',
      service: 'execute-api',
      fallback_role_arn: role('Fallback'),
      role_claim: 'groups',
      session_duration: 3600,
      session_name_claim: 'sub',
      ...more,
    },
  });

const CLAIMS = () => ({ groups: ['admins'], teams: ['red'], email: 'ada@example.com' });

/** Observes a parameter of the request to the token service. */
const assumed = (name: string) =>
  proxied(async (proxy, world) => {
    const before = world.sts.asked.length;
    await callTool(proxy, 'echo', {}, await byToken(CLAIMS)(world));
    return world.sts.asked.slice(before).at(-1)?.form.get(name);
  });
const signed = leaving(
  (headers) => /Credential=[^/]*\/\d+\/([^,]*),/.exec(String(headers.authorization))?.[1],
  byToken(CLAIMS),
);

const sts = (key: string, rest: Omit<FieldRow, 'field' | 'base'> & Partial<FieldRow>): FieldRow => ({
  field: `/aws_sts_config/${key}`,
  base: assuming(),
  environment: (world) => ({ AWS_ENDPOINT_URL_STS: world.sts.url }),
  ...rest,
});
const mapping = (key: string, rest: Pick<FieldRow, 'value' | 'ignored' | 'base' | 'expected'>): FieldRow =>
  sts(`role_mappings/*/${key}`, { at: `/aws_sts_config/role_mappings/0/${key}`, see: assumed('RoleArn'), ...rest });

const ROLES: readonly FieldRow[] = [
  sts('region', {
    value: 'us-west-2',
    ignored: 'eu-central-1',
    see: signed,
    expected: 'us-west-2/execute-api/aws4_request',
  }),
  sts('service', { value: 'story', ignored: 'execute-api', see: signed, expected: 'eu-central-1/story/aws4_request' }),
  sts('fallback_role_arn', { value: role('Story'), see: assumed('RoleArn'), expected: role('Story') }),
  mapping('claim', {
    value: 'admins',
    ignored: 'others',
    base: assuming({ role_mappings: [{ claim: 'others', role_arn: role('Story') }] }),
    expected: role('Story'),
  }),
  mapping('matcher', {
    value: '"admins" in claims.groups',
    ignored: 'false',
    base: assuming({ role_mappings: [{ matcher: 'false', role_arn: role('Story') }] }),
    expected: role('Story'),
  }),
  mapping('role_arn', {
    value: role('Story'),
    ignored: role('Other'),
    base: assuming({ role_mappings: [{ claim: 'admins', role_arn: role('Other') }] }),
    expected: role('Story'),
  }),
  mapping('priority', {
    value: 9,
    ignored: 0,
    base: assuming({
      role_mappings: [
        { claim: 'admins', role_arn: role('Other'), priority: 0 },
        { claim: 'admins', role_arn: role('Story'), priority: 1 },
      ],
    }),
    expected: role('Story'),
  }),
  sts('role_claim', {
    value: 'teams',
    ignored: 'groups',
    base: assuming({ role_mappings: [{ claim: 'red', role_arn: role('Story') }] }),
    see: assumed('RoleArn'),
    expected: role('Story'),
  }),
  sts('session_duration', { value: 900, ignored: 3600, see: assumed('DurationSeconds'), expected: '900' }),
  sts('session_name_claim', {
    value: 'email',
    ignored: 'sub',
    see: assumed('RoleSessionName'),
    expected: 'ada@example.com',
  }),
];

export const CALLER_ROWS: readonly FieldRow[] = [...CALLERS, ...EXCHANGES, ...HEADERS, ...ROLES];

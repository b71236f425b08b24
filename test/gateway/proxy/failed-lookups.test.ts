// Tests that a call is refused and not sent to the server if a required lookup fails. Tool hints are in hints.test.ts,
// the login store in test/gateway/issuer/settings-and-store.test.ts.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { call, post, proxyBefore, startServer, stopAll, type TestServer } from './rig.ts';

/** URL of a closed port. */
const NOWHERE = 'http://127.0.0.1:1';
const RESOURCE = 'https://mcp.example/mcp';

let issuer: Issuer;
let server: TestServer;
let directory: string;

beforeAll(async () => {
  issuer = await startIssuer();
  server = await startServer();
  directory = await mkdtemp(join(tmpdir(), 'skep-lookups-'));
});
afterAll(async () => {
  await stopAll();
  await issuer.close();
  await rm(directory, { recursive: true });
});

type Settings = Parameters<typeof proxyBefore>[1];

function oidc(more: Partial<NonNullable<RunConfig['oidc_config']>> = {}): Settings {
  return {
    oidc_config: {
      issuer: issuer.url,
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: RESOURCE,
      scopes: ['openid'],
      ...more,
    },
  };
}

async function jwt(iss = issuer.url): Promise<string> {
  return issuer.sign({ iss, aud: RESOURCE, sub: 'ann', exp: Math.floor(Date.now() / 1000) + 600 });
}

async function policies(name: string, texts: readonly string[]): Promise<Settings> {
  const file = join(directory, `${name}.json`);
  await writeFile(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: texts } }));
  return { authz_config_path: file };
}

const PERMIT = 'permit(principal, action, resource);';
const ROLE = 'arn:aws:iam::123456789012:role/reader';

type Row = readonly [lookup: string, settings: () => Promise<Settings>, token: () => Promise<string>, status: number];

const ROWS: readonly Row[] = [
  ['the URL of the issuer keys', async () => oidc({ issuer: NOWHERE }), () => jwt(NOWHERE), 503],
  ['the keys of the issuer', async () => oidc({ jwks_url: `${NOWHERE}/jwks` }), () => jwt(), 503],
  [
    'whether an opaque token is active',
    async () => oidc({ introspection_url: `${NOWHERE}/introspect` }),
    async () => 'opaque',
    503,
  ],
  [
    'the token that the server gets in exchange',
    async () => ({
      ...oidc(),
      token_exchange_config: {
        token_url: `${NOWHERE}/token`,
        audience: 'server',
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        header_strategy: 'replace',
      },
    }),
    () => jwt(),
    503,
  ],
  [
    'the credentials of a role',
    async () => ({
      ...oidc(),
      environment: { AWS_ENDPOINT_URL_STS: NOWHERE },
      aws_sts_config: {
        region: 'eu-west-1',
        service: 'execute-api',
        fallback_role_arn: ROLE,
        role_claim: 'groups',
        session_duration: 900,
        session_name_claim: 'sub',
      },
    }),
    () => jwt(),
    503,
  ],
  [
    'the role of a caller whose claims a mapping cannot be evaluated for',
    async () => ({
      ...oidc(),
      aws_sts_config: {
        region: 'eu-west-1',
        service: 'execute-api',
        role_mappings: [{ matcher: '"readers" in claims.groups', role_arn: ROLE }],
        role_claim: 'groups',
        session_duration: 900,
        session_name_claim: 'sub',
      },
    }),
    () => jwt(),
    403,
  ],
  [
    'a claim that a policy forbids by',
    async () => ({
      ...oidc(),
      ...(await policies('claim', [PERMIT, 'forbid(principal, action, resource) when { context.claim_suspended };'])),
    }),
    () => jwt(),
    403,
  ],
  [
    'an argument that a policy forbids by',
    async () =>
      policies('argument', [PERMIT, 'forbid(principal, action, resource) when { context.arg_path == "/etc" };']),
    async () => '',
    403,
  ],
  [
    'an attribute that no entity has',
    async () => policies('entity', [PERMIT, 'forbid(principal, action, resource) when { resource.secret };']),
    async () => '',
    403,
  ],
];

it.each(ROWS)('a call is refused if this lookup fails: %s', async (_lookup, settings, token, status) => {
  const proxy = await proxyBefore(server.port, await settings());
  const given = await token();
  const before = server.received.length;
  const refused = await post(proxy.url, call('a'), given === '' ? {} : { authorization: `Bearer ${given}` });
  expect(refused.status).toBe(status);
  expect(server.received.length).toBe(before);
});

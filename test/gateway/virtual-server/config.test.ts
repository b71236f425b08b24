// Tests which configurations a virtual server accepts, and the errors and warnings of others.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { AuthServerConfig } from '#contracts/auth-server/config.ts';
import { formatVmcpConfig, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { checkVirtualConfig } from '#hosts/virtual-server/validate.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { Failure } from '#std/failure.ts';
import { configOf } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'skep-vmcp-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BACKENDS = { wiki: { url: 'http://wiki:8080/mcp' } };
let count = 0;

/** Returns the warnings, or the failure. */
function check(text: string): readonly string[] | string {
  count += 1;
  const file = join(folder, `${count}.yaml`);
  writeFileSync(file, text);
  try {
    return checkVirtualConfig(createWatchedFiles(), file);
  } catch (error) {
    if (error instanceof Failure) return `${error.code} ${error.message.replace(`${file}: `, '')}`;
    throw error;
  }
}

function checkSettings(settings: Partial<VmcpConfig>) {
  return check(formatVmcpConfig(configOf(BACKENDS, settings)));
}

it('a configuration that skep writes is valid', () => {
  expect(checkSettings({})).toEqual([]);
});

describe('is refused', () => {
  it.each([
    ['a file that is not a configuration', 'a: 1', 'vmcp-config-invalid /name must have required property'],
    ['a file that is not YAML', 'a: [', 'vmcp-config-invalid'],
  ])('%s', (_name, text, expected) => {
    const found = check(text);
    expect(found.slice(0, 19)).toBe(expected.slice(0, 19));
  });

  const exchange = {
    ...{ tokenUrl: 'https://login.example.com/token', subjectProviderName: 'p' },
    subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
  } as const;

  it.each([
    { field: 'upstreamInject/providerName', wiki: { type: 'upstream_inject', upstreamInject: { providerName: 'p' } } },
    { field: 'tokenExchange/subjectProviderName', wiki: { type: 'token_exchange', tokenExchange: exchange } },
  ] as const)('a token of a provider where nobody can log in, by $field', ({ field, wiki }) => {
    expect(checkSettings({ outgoingAuth: { source: 'inline', backends: { wiki } } })).toBe(
      `vmcp-config-invalid /outgoingAuth/backends/wiki/${field} needs /authServer`,
    );
  });

  it('two backends with one name', () => {
    const config = configOf(BACKENDS);
    expect(check(formatVmcpConfig({ ...config, backends: [...config.backends, ...config.backends] }))).toBe(
      'vmcp-config-invalid /backends has wiki twice',
    );
  });

  it('the type local of incomingAuth, with the types to write instead', () => {
    const message =
      'local would authenticate nobody (decision 0323). Write oidc with the issuer of your tokens, or anonymous';
    expect(checkSettings({ incomingAuth: { type: 'local', authz: { type: 'none' } } })).toBe(
      `vmcp-setting-not-supported /incomingAuth/type is not supported by this release: ${message}`,
    );
  });

  const STEP = { id: 'a', type: 'tool', tool: 'wiki.find' } as const;

  it.each<[string, string, Partial<NonNullable<VmcpConfig['compositeTools']>[number]>]>([
    [
      'of steps that wait for each other',
      '/steps/0/dependsOn the steps wait',
      { steps: [{ ...STEP, dependsOn: ['a'] }] },
    ],
    [
      'with a template that cannot be read',
      '/steps/0/condition not a valid Go template',
      { steps: [{ ...STEP, condition: '{{' }] },
    ],
    [
      'with a step that lacks its tool',
      "/steps/0 tool must be set when type is 'tool'",
      { steps: [{ id: 'a', type: 'tool' }] },
    ],
    [
      'with a setting of another type',
      "/steps/0 message must be set when type is 'elicitation', and must not",
      { steps: [{ ...STEP, message: 'x' }] },
    ],
    [
      'with tries of none',
      '/steps/0/onError/retryCount retryCount must be at least 1',
      { steps: [{ ...STEP, onError: { action: 'retry' } }] },
    ],
    [
      'with a pattern beyond RE2',
      '/parameters the pattern (?=a) cannot be used',
      { parameters: { type: 'object', properties: { q: { type: 'string', pattern: '(?=a)' } } } },
    ],
    [
      'with an output that is required and absent',
      '/output/required required must only name properties',
      { output: { properties: { a: { type: 'string', value: 'x' } }, required: ['b'] } },
    ],
  ])('a workflow %s', (_, words, more) => {
    const compositeTools = [{ name: 'w', description: 'w', steps: [STEP], ...more }];
    expect(checkSettings({ compositeTools })).toContain(`vmcp-config-invalid /compositeTools/0${words}`);
  });

  const OFFICE_OIDC = {
    ...{ issuer: 'https://id.example.com', audience: 'office', resource: 'https://office.example.com/mcp', scopes: [] },
    ...{ jwksAllowPrivateIp: false, protectedResourceAllowPrivateIp: false, insecureAllowHttp: false },
  };
  const LOGIN = {
    ...{ name: 'login', type: 'oidc' as const },
    oidc_config: {
      issuer_url: 'https://login.example.com',
      client_id: 'a',
      redirect_uri: 'https://office.example.com/cb',
    },
  };
  const AUTH_SERVER: AuthServerConfig = {
    schema_version: 'v0.1.0',
    issuer: 'https://id.example.com',
    token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
    upstreams: [{ name: 'login', type: 'oidc' }],
    scopes_supported: ['openid'],
    allowed_audiences: ['office'],
    storage: { type: 'memory' },
  };

  it.each<[string, Partial<AuthServerConfig>, string]>([
    ['with a provider that lacks its block', {}, '/upstreams/0 is of type oidc, but the block of that type is missing'],
    [
      'with a store that lacks its block',
      { upstreams: [LOGIN], storage: { type: 'redis' } },
      '/storage/redis_config is missing: /storage/type is redis',
    ],
    ['whose tokens are not accepted', { issuer: 'https://other.example.com' }, '/issuer is https://other.example.com'],
  ])('an authorization server %s', (_name, settings, message) => {
    const incomingAuth = { type: 'oidc', oidc: OFFICE_OIDC, authz: { type: 'none' } } as const;
    const authServer = { ...AUTH_SERVER, ...settings };
    expect(checkSettings({ incomingAuth, authServer })).toContain(`issuer-config-invalid ${message}`);
  });

  it.each<[string, Strategy, string]>([
    [
      'a header of the connection',
      { type: 'header_injection', headerInjection: { headerName: 'Connection', headerValueEnv: 'KEY' } },
      'Connection',
    ],
    [
      'a role by an expression that is none',
      {
        type: 'cloud_sts',
        cloudSts: {
          ...{ region: 'eu-central-1', service: 'execute-api', roleClaim: 'groups', sessionDuration: 900 },
          sessionNameClaim: 'sub',
          roleMappings: [{ matcher: 'claims.', roleArn: 'arn:aws:iam::123456789012:role/a' }],
        },
      },
      'is not a CEL expression over claims',
    ],
  ])('a credential that cannot be made: %s', (_name, wiki, message) => {
    expect(checkSettings({ outgoingAuth: { source: 'inline', backends: { wiki } } })).toContain(message);
  });

  it('not a secret in another backend', () => {
    const wiki = { type: 'bearer_token', bearerToken: { tokenEnv: 'TOKEN' } } as const;
    expect(checkSettings({ outgoingAuth: { source: 'inline', backends: { wiki } } })).toEqual([]);
  });

  it('an invalid policy', () => {
    const incomingAuth = { type: 'anonymous', authz: { type: 'cedar', policies: ['permit('] } } as const;
    expect(
      checkSettings({ incomingAuth: { ...incomingAuth, authz: { ...incomingAuth.authz, policies: ['permit('] } } }),
    ).toContain('policy-file-invalid /incomingAuth/authz/policies: policy 1');
  });
});

it('warns of shortened names, and of settings for unknown backends', () => {
  const { aggregation, operational } = configOf(BACKENDS);
  const name = 'x'.repeat(60);
  const tools = [
    { workload: 'wiki', overrides: { find: { name } }, excludeAll: false },
    { workload: 'gone', excludeAll: true },
  ];
  const conflictResolutionConfig = { prefixFormat: '{workload}_', priorityOrder: ['lost'] };
  const timeouts = { default: '30s', perWorkload: { lost: '1s' } };
  expect(
    checkSettings({
      aggregation: { ...aggregation, tools, conflictResolutionConfig },
      operational: { ...operational, timeouts },
    }),
  ).toEqual([
    `the tool wiki_${name} has 65 characters: clients see it shortened to 64`,
    '/aggregation/tools/1/workload: there is no backend gone',
    '/aggregation/conflictResolutionConfig/priorityOrder/0: there is no backend lost',
    '/operational/timeouts/perWorkload: there is no backend lost',
  ]);
});

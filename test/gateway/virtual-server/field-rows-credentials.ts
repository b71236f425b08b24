// Lists the tests of settings for outgoing authentication, by requests to token services and to the backend.

import { createHash } from 'node:crypto';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { credentialOfStrategy } from '#gateway/credentials/of-strategy.ts';
import type { Json } from '#std/json.ts';
import { sendJson, startEndpoint } from '../credentials/endpoint.ts';
import { outgoing, startWorld } from '../credentials/world.ts';
import type { FieldRow } from './field-row.ts';

const ENVIRONMENT = { ONE: 'one', TWO: 'two' };
const ROLE = 'arn:aws:iam::123456789012:role/';
const TYPE = 'urn:ietf:params:oauth:token-type:';

/** Observes the requests to the token service, and the headers of the request to the backend. */
async function seeCredential({ outgoingAuth }: VmcpConfig): Promise<unknown> {
  const service = await startEndpoint(({ form }, response) => {
    if (form.has('requested_token_type') && form.get('requested_token_type') === `${TYPE}id-jag`)
      return sendJson(response, 200, assertionFor(form));
    if (form.get('Action') === null) return sendJson(response, 200, issuedToken(form));
    response.writeHead(200, { 'content-type': 'text/xml' }).end(stsAnswer(form));
  });
  const world = startWorld({ ...ENVIRONMENT, AWS_ENDPOINT_URL_STS: service.url });
  try {
    const strategy = JSON.parse(JSON.stringify(outgoingAuth.backends.only).replaceAll('http://service', service.url));
    const providerToken = async (_caller: unknown, provider: string) => `token of ${provider}`;
    const providerIdToken = async (_caller: unknown, provider = 'the first') => `id_token of ${provider}`;
    const credential = credentialOfStrategy(strategy, '/only', { ...world.ports, providerToken, providerIdToken });
    const claims = { sub: 'ada', groups: ['admins'], name: 'Ada', teams: ['readers'] };
    const left = await credential(outgoing(), { key: 'ada', token: 'the-callers', claims });
    const asked = service.asked.map(({ path, headers, body }) => [path, headers.authorization, body]);
    return { asked, left: JSON.parse(JSON.stringify(left).replaceAll(service.url, '')) };
  } finally {
    await Promise.all([service.close(), world.close()]);
  }
}

function issuedToken(form: URLSearchParams) {
  const digest = createHash('sha256').update(form.toString()).digest('hex').slice(0, 8);
  return { access_token: digest, token_type: 'Bearer', issued_token_type: `${TYPE}access_token`, expires_in: 3600 };
}

function stsAnswer(form: URLSearchParams): string {
  const id = `ASIA${createHash('sha256')
    .update(String(form.get('RoleArn')))
    .digest('hex')
    .slice(0, 16)
    .toUpperCase()}`;
  const keys = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>`;
  const result = `<Credentials>${keys}<Expiration>2026-01-15T13:00:00Z</Expiration></Credentials>`;
  const name = 'AssumeRoleWithWebIdentity';
  return `<${name}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${name}Result>${result}</${name}Result></${name}Response>`;
}

/** Returns an unsigned assertion, because only the target server would verify the signature. */
function assertionFor(form: URLSearchParams) {
  const claims = { aud: form.get('audience'), resource: form.get('resource') };
  const assertion = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
  return { access_token: assertion, token_type: 'N_A', issued_token_type: `${TYPE}id-jag` };
}

const STRATEGIES = {
  headerInjection: { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValue: 'v' } },
  tokenExchange: {
    type: 'token_exchange',
    tokenExchange: {
      tokenUrl: 'http://service/one',
      clientId: 'office',
      clientSecretEnv: 'ONE',
      audience: 'a',
      scopes: ['read'],
      subjectTokenType: `${TYPE}access_token`,
    },
  },
  upstreamInject: { type: 'upstream_inject', upstreamInject: { providerName: 'github' } },
  xaa: {
    type: 'xaa',
    xaa: {
      idpTokenUrl: 'http://service/idp',
      idpClientId: 'office',
      idpClientSecretEnv: 'ONE',
      targetTokenUrl: 'http://service/target',
      targetClientId: 'office',
      targetClientSecretEnv: 'ONE',
      targetAudience: 'notes',
    },
  },
  bearerToken: { type: 'bearer_token', bearerToken: { tokenEnv: 'ONE' } },
  cloudSts: {
    type: 'cloud_sts',
    cloudSts: {
      region: 'eu-central-1',
      service: 'cloud-mcp',
      roleMappings: [
        { claim: 'admins', roleArn: `${ROLE}admin`, priority: 1 },
        { matcher: 'claims.name == "Ada"', roleArn: `${ROLE}ada`, priority: 2 },
      ],
      fallbackRoleArn: `${ROLE}reader`,
      roleClaim: 'groups',
      sessionDuration: 3600,
      sessionNameClaim: 'sub',
    },
  },
} satisfies Record<string, Strategy>;

function row(block: keyof typeof STRATEGIES, key: string, values: FieldRow['values'], change?: object): FieldRow {
  const strategy: Strategy = { ...STRATEGIES[block], ...change };
  const field = `/outgoingAuth/backends/*/${block}/${key.replaceAll(/\/\d+\//g, '/*/')}`;
  const base = { outgoingAuth: { source: 'inline', backends: { only: strategy } } } as const;
  return { field, at: `/outgoingAuth/backends/only/${block}/${key}`, values, base, see: seeCredential };
}

function without(key: string): object {
  const { [key]: _gone, ...others }: Record<string, Json> = STRATEGIES.cloudSts.cloudSts;
  return { cloudSts: others };
}

const HEADER = { headerName: 'X-Key', headerValueEnv: 'ONE' };
const { clientSecretEnv: _env, ...EXCHANGE } = STRATEGIES.tokenExchange.tokenExchange;

const { idpClientSecretEnv: _idp, targetClientSecretEnv: _target, ...ACCESS } = STRATEGIES.xaa.xaa;

export const CREDENTIAL_ROWS: readonly FieldRow[] = [
  {
    field: '/outgoingAuth/backends/*/type',
    at: '/outgoingAuth/backends/only/type',
    values: ['header_injection', 'unauthenticated'],
    base: { outgoingAuth: { source: 'inline', backends: { only: STRATEGIES.headerInjection } } },
    see: seeCredential,
  },
  row('headerInjection', 'headerName', ['X-One', 'X-Two']),
  row('headerInjection', 'headerValue', ['one', 'two']),
  row('headerInjection', 'headerValueEnv', ['ONE', 'TWO'], { headerInjection: HEADER }),
  row('tokenExchange', 'tokenUrl', ['http://service/one', 'http://service/two']),
  row('tokenExchange', 'clientId', ['one', 'two']),
  row('tokenExchange', 'clientSecret', ['one', 'two'], { tokenExchange: EXCHANGE }),
  row('tokenExchange', 'clientSecretEnv', ['ONE', 'TWO']),
  row('tokenExchange', 'audience', ['one', 'two']),
  row('tokenExchange', 'scopes', [['one'], ['two']]),
  row('tokenExchange', 'subjectTokenType', [`${TYPE}jwt`, `${TYPE}access_token`]),
  row('tokenExchange', 'externalTokenHeaderName', ['X-Token', undefined]),
  row('tokenExchange', 'subjectProviderName', ['one', undefined]),
  row('upstreamInject', 'providerName', ['one', 'two']),
  row('xaa', 'idpTokenUrl', ['http://service/one', 'http://service/two']),
  row('xaa', 'idpClientId', ['one', 'two']),
  row('xaa', 'idpClientSecret', ['one', 'two'], { xaa: ACCESS }),
  row('xaa', 'idpClientSecretEnv', ['ONE', 'TWO']),
  row('xaa', 'targetTokenUrl', ['http://service/one', 'http://service/two']),
  row('xaa', 'insecureTargetTokenUrl', [undefined, true], {
    xaa: { ...STRATEGIES.xaa.xaa, targetTokenUrl: 'http://127.0.0.1.invalid/token' },
  }),
  row('xaa', 'targetClientId', ['one', 'two']),
  row('xaa', 'targetClientSecret', ['one', 'two'], { xaa: ACCESS }),
  row('xaa', 'targetClientSecretEnv', ['ONE', 'TWO']),
  row('xaa', 'targetAudience', ['one', 'two']),
  row('xaa', 'targetResource', ['https://one.example.com', undefined]),
  row('xaa', 'scopes', [['one'], ['two']]),
  row('xaa', 'subjectProviderName', ['one', undefined]),
  row('bearerToken', 'tokenEnv', ['ONE', 'TWO']),
  row('cloudSts', 'region', ['eu-central-1', 'us-east-1']),
  row('cloudSts', 'service', ['cloud-mcp', 'other']),
  row('cloudSts', 'fallbackRoleArn', [`${ROLE}one`, `${ROLE}two`], without('roleMappings')),
  row('cloudSts', 'roleMappings/0/claim', ['admins', 'nobody']),
  row('cloudSts', 'roleMappings/1/matcher', ['claims.name == "Ada"', 'claims.name == "Eve"'], {
    cloudSts: { ...STRATEGIES.cloudSts.cloudSts, roleClaim: 'none' },
  }),
  row('cloudSts', 'roleMappings/0/roleArn', [`${ROLE}one`, `${ROLE}two`]),
  row('cloudSts', 'roleMappings/0/priority', [1, 3]),
  row('cloudSts', 'subjectProviderName', ['one', undefined]),
  row('cloudSts', 'roleClaim', ['groups', 'teams']),
  row('cloudSts', 'sessionDuration', [900, 3600]),
  row('cloudSts', 'sessionNameClaim', ['sub', 'name']),
];

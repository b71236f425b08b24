// Tests which changes of a virtual server's configuration require a restart of the process.

import { expect, it, test } from 'vitest';
import { VIRTUAL_CONFIG } from '../../test/harness/mcp-modes.ts';
import { VMCP_CONFIG_SCHEMA, type VmcpConfig } from './vmcp-config.ts';
import { VMCP_CONFIG_KEYS, virtualKeysForRestart } from './vmcp-config-keys.ts';

const AUDIT = { enabled: true, component: 'office', includeRequestData: false, includeResponseData: false } as const;
const OIDC = {
  issuer: 'https://id.example.com',
  audience: 'https://office.example.com',
  resource: 'https://office.example.com',
  jwksAllowPrivateIp: false,
  protectedResourceAllowPrivateIp: false,
  insecureAllowHttp: false,
};

function incoming(oidc: Partial<NonNullable<VmcpConfig['incomingAuth']['oidc']>>): VmcpConfig['incomingAuth'] {
  return { type: 'oidc', oidc: { ...OIDC, scopes: ['openid'], ...oidc }, authz: { type: 'none' } };
}

it('every key of the file has a reading', () => {
  expect(Object.keys(VMCP_CONFIG_KEYS).toSorted()).toEqual(Object.keys(VMCP_CONFIG_SCHEMA.properties).toSorted());
});

interface Row {
  readonly what: string;
  readonly before?: object;
  readonly after: object;
  readonly keys: readonly string[];
}

const authServer = { issuer: OIDC.issuer };
const ROWS: readonly Row[] = [
  { what: 'another group', after: { groupRef: 'others' }, keys: [] },
  { what: 'an audit', after: { audit: AUDIT }, keys: [] },
  { what: 'a file for the audit', after: { audit: { ...AUDIT, logFile: '/var/log/audit' } }, keys: ['audit'] },
  { what: 'an optimizer', after: { optimizer: { maxToolsToReturn: 3 } }, keys: [] },
  { what: 'another name', after: { name: 'other' }, keys: ['name'] },
  { what: 'callers with tokens', after: { incomingAuth: incoming({}) }, keys: [] },
  {
    what: 'callers with tokens that are introspected',
    after: { incomingAuth: incoming({ clientSecretEnv: 'SECRET' }) },
    keys: ['incomingAuth'],
  },
  {
    what: 'another audience of an issuer elsewhere',
    before: { incomingAuth: incoming({}) },
    after: { incomingAuth: incoming({ audience: 'office' }) },
    keys: [],
  },
  {
    what: 'another audience of its own issuer',
    before: { authServer, incomingAuth: incoming({}) },
    after: { authServer, incomingAuth: incoming({ audience: 'office' }) },
    keys: ['incomingAuth'],
  },
];

test.each(ROWS)('$what', ({ before = {}, after, keys }) => {
  const [old, next] = [before, after].map((change) => ({ ...VIRTUAL_CONFIG, ...change }) as VmcpConfig);
  expect(old && next && virtualKeysForRestart(old, next)).toEqual(keys);
});

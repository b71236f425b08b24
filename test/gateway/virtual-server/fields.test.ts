// Tests that each setting of a virtual server has an effect: a row observes different results for two values. Settings
// without a row have a reason.

import { describe, expect, test } from 'vitest';
import { VMCP_CONFIG_SCHEMA, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { JsonObject } from '#std/json.ts';
import { settingsOf, withSetting } from '../proxy/field-row.ts';
import type { FieldRow } from './field-row.ts';
import { CLIENT_ROWS } from './field-rows.ts';
import { CREDENTIAL_ROWS } from './field-rows-credentials.ts';
import { OPERATION_ROWS } from './field-rows-operation.ts';
import { configOf } from './world.ts';

/** Reasons of settings without a row: no effect, or tests in another file. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  '/optimizer/embeddingProvider': 'embeddingModel is there if and only if it is openai',
  '/passthroughHeaders': 'its story is in test/gateway/virtual-server/passthrough-headers.test.ts',
  '/groupRef': 'for people: which group it is in front of',
  '/metadata': 'for people, in the console: test/gateway/virtual-server/operators.test.ts',
  '/backends/*/metadata': 'for people, in the console: test/gateway/virtual-server/operators.test.ts',
  '/backends/*/headerForward/addPlaintextHeaders': 'its story is in test/gateway/virtual-server/entries.test.ts',
  '/backends/*/headerForward/addHeadersFromSecret': 'its story is in test/gateway/virtual-server/entries.test.ts',
  '/backends/*/sleeps': 'its story needs pods: test/gateway/virtual-server/sleep.test.ts',
  '/backends/*/caBundlePath': 'its story is in test/gateway/virtual-server/entries.test.ts',
  '/outgoingAuth/backends/*/tokenExchange/caBundlePath':
    'its story needs an endpoint over TLS: test/gateway/credentials/trust.test.ts',
  '/outgoingAuth/backends/*/xaa/subjectTokenType': 'there is one type',
  '/outgoingAuth/source': 'for people: where the strategies were found',
  '/incomingAuth/oidc/clientSecretEnv':
    'the variable is read where the one of a proxy is: test/gateway/proxy/fields.test.ts',
  '/authServer':
    'its stories are logins: test/gateway/issuer/fields.test.ts, test/gateway/virtual-server/credentials.test.ts',
  '/incomingAuth/authz/primaryUpstreamProvider': 'its story is a login: test/gateway/issuer/primary-provider.test.ts',
  '/sessionStorage': 'its stories need replicas and a store: test/gateway/virtual-server/replicas.test.ts',
  '/rateLimiting': 'its stories need replicas and a store: test/gateway/virtual-server/rate-limits.test.ts',
  '/compositeTools': 'its stories are workflows',
  '/operational/failureHandling/statusReportingInterval':
    'its story needs a cluster: test/gateway/virtual-server/reporting.test.ts',
  '/audit/maxDelegationDepth': 'its story needs tokens: test/gateway/virtual-server/audit-delegation.test.ts',
  '/audit/enabled': 'always true: a configuration without an audit has no such block',
};

/** Settings that are tested as a whole. More tests of the lock: test/gateway/virtual-server/tools-lock.test.ts. */
const WHOLE = ['/authServer', '/backends/*/toolsLock', '/compositeTools', '/rateLimiting', '/sessionStorage'];
const ROWS: readonly FieldRow[] = [...CLIENT_ROWS, ...CREDENTIAL_ROWS, ...OPERATION_ROWS];

test('every setting of the schema has a row or a reason, and no other setting has', () => {
  const known = [...ROWS.map(({ field }) => field), ...Object.keys(WITHOUT_ROW)];
  expect([...new Set(known)].toSorted()).toEqual(settingsOf(VMCP_CONFIG_SCHEMA, WHOLE).toSorted());
});

const BASE: JsonObject = JSON.parse(
  JSON.stringify(configOf({ one: { url: 'http://one' }, two: { url: 'http://two' } })),
);

async function seen({ field, at = field, base = {}, see }: FieldRow, value: FieldRow['values'][number]) {
  const whole: JsonObject = { ...BASE, ...JSON.parse(JSON.stringify(base)) };
  try {
    return await see(withSetting(whole, at, value) as unknown as VmcpConfig);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

describe.concurrent('a setting', () => {
  test.each(ROWS.map((row) => [row.at ?? row.field, row] as const))('%s has its effect', async (_name, row) => {
    const [one, two] = [await seen(row, row.values[0]), await seen(row, row.values[1])];
    expect(one).not.toEqual(two);
    // The same value must lead to the same result, otherwise the difference shows no effect.
    expect(await seen(row, row.values[0])).toEqual(one);
  });
});

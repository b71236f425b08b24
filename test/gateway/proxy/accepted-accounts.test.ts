// Tests that the service account in a manifest reaches the token settings of a proxy and a virtual server unchanged.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUN_CONFIG_FILE, type RunConfig } from '#contracts/run-config.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import { readVmcpConfig, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { resourceOf } from '#gateway/proxy/settings.ts';
import { gateConfig } from '#hosts/virtual-server/gate-config.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Resource } from '#reconciler/kinds/kind.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { FOLDER, readFixture, SETTINGS } from '../../reconciler/kinds/fixture.ts';

interface Kubernetes {
  readonly serviceAccount?: string;
  readonly namespace?: string;
}

const ISSUER = 'https://kubernetes.example.com';

/** Returns the proxy configuration of the fixture `full-oidc-kubernetes` with other accounts. */
function configOf(name: string, accounts: Kubernetes): RunConfig {
  const kind = KINDS.find((each) => each.kind === name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  const fixture = readFixture(kind, join(FOLDER, kind.singular, 'full-oidc-kubernetes.yaml'), name);
  const { spec } = fixture.resource;
  const oidcConfig = { type: 'kubernetes', kubernetes: { issuer: ISSUER, useClusterAuth: true, ...accounts } };
  const changed =
    name === 'VirtualMCPServer' ? { ...spec, incomingAuth: { type: 'oidc', oidcConfig } } : { ...spec, oidcConfig };
  const resource: Resource = { ...fixture.resource, spec: changed };
  const [config] = kind
    .children(resource, fixture.view, SETTINGS)
    .flatMap(({ data }) => (isObject(data) ? read(data) : []));
  if (config === undefined) throw new Error(`${name} has no configuration`);
  return config;
}

function read({ [RUN_CONFIG_FILE]: proxy, [VMCP_CONFIG_FILE]: virtual }: JsonObject): RunConfig[] {
  if (typeof proxy === 'string') {
    const run = readRunConfig(proxy);
    return 'config' in run ? [run.config] : [];
  }
  if (typeof virtual !== 'string') return [];
  const file = readVmcpConfig(virtual);
  return 'config' in file ? [gateConfig(file.config, { host: '127.0.0.1', port: 0, namespace: 'unused' })] : [];
}

const CASES: readonly { reason: string; written: Kubernetes; account: object | undefined }[] = [
  {
    reason: 'both are written',
    written: { serviceAccount: 'caller', namespace: 'callers' },
    account: { namespace: 'callers', name: 'caller' },
  },
  {
    reason: 'the account alone is of the namespace of the resource',
    written: { serviceAccount: 'caller' },
    account: { namespace: 'agents', name: 'caller' },
  },
  {
    reason: 'the namespace alone is for all of its accounts',
    written: { namespace: 'callers' },
    account: { namespace: 'callers' },
  },
  { reason: 'none is written', written: {}, account: undefined },
];

test.each(
  ['MCPServer', 'MCPRemoteProxy', 'VirtualMCPServer'].flatMap((kind) => CASES.map((each) => ({ kind, ...each }))),
)('$kind: $reason', ({ kind, written, account }) => {
  const [provider] = resourceOf(configOf(kind, written), undefined)?.providers ?? [];
  expect(provider).toMatchObject({ issuerUrl: ISSUER });
  expect(provider?.account).toEqual(account);
});

// Tests the connection settings of a registry's database, from its MCPRegistry, its Secrets and its ConfigMaps.

import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { createOutbound } from '#adapters/http/outbound.ts';
import type { DatabaseSettings } from '#adapters/postgres/pool.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { MCPRegistry } from '#reconciler/kinds/mcpregistry/index.ts';
import { readConfig } from '../../config/read-config.ts';
import { registryDeps } from './registries.ts';

const OBJECTS: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, data: { app: 'YQ==', migrator: 'Yg==' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'authorities' }, data: { 'ca.crt': 'CERTIFICATES' } },
];

/** Returns the connection settings for an MCPRegistry with these annotations. */
async function connectedWith(annotations: Record<string, string>): Promise<DatabaseSettings> {
  const config = readConfig({
    text: 'sources: [{name: fleet, repository: https://git.example.com/fleet.git}]',
    file: 'skep.yaml',
    environment: {},
  });
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  const opened: DatabaseSettings[] = [];
  const stores = {
    async open({ app }: { readonly app: DatabaseSettings }) {
      opened.push(app);
      return assert.fail('nothing is connected here');
    },
    close: async () => undefined,
  };
  const { storeFor } = registryDeps(config, outbound, stores, {});
  const registry = {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name: 'catalogue', namespace: 'agents', annotations },
    spec: {
      registries: [{ name: 'all', format: 'upstream', api: { endpoint: 'https://r.example.com' } }],
      databaseConfig: {
        sslMode: 'verify-ca',
        dbAppUserPasswordSecretRef: { name: 'db', key: 'app' },
        dbMigrationUserPasswordSecretRef: { name: 'db', key: 'migrator' },
      },
    },
  };
  const view = {
    find: (kind: string, name: string) => OBJECTS.find((one) => one.kind === kind && one.metadata.name === name),
    all: () => [],
  };
  try {
    await storeFor(MCPRegistry, registry, view, 'read').catch((error: unknown) => {
      if (opened.length === 0) throw error;
    });
  } finally {
    await outbound.close();
  }
  const [settings] = opened;
  assert(settings !== undefined);
  return settings;
}

test('certificates in the annotation are used to verify the database', async () => {
  const settings = await connectedWith({ 'skep.dev/database-ca': 'authorities' });
  expect(settings).toMatchObject({ sslMode: 'verify-ca', ca: 'CERTIFICATES', password: 'a' });
});

test('missing certificates prevent the connection', async () => {
  await expect(connectedWith({ 'skep.dev/database-ca': 'authorities/other.crt' })).rejects.toThrow(
    'ConfigMap authorities has no certificates under the key other.crt',
  );
});

// Asks the service of an MCPRegistry as the reconciler has configured it: it is started for one request.

import { pino } from 'pino';
import { parse } from 'yaml';
import type { Store } from '#adapters/postgres/store.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { startService } from '#hosts/registry/serve.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, settingsOf } from '../../harness/instance.ts';
import type { World } from '../../harness/world.ts';

interface Around {
  readonly world: World;
  readonly database: TestDatabase;
  readonly folder: InstanceFolder;
  readonly store: Store;
}

/** Requests a path of the registry `catalogue` of the namespace `tools`. */
export async function askConfiguredRegistry({ world, database, folder, store }: Around, path: string) {
  const configMap = '/api/v1/namespaces/tools/configmaps/catalogue-registry-server-config';
  const { body } = await world.cluster.send('GET', configMap);
  const [text = ''] = Object.values(body.data as Record<string, string>);
  const file = { ...parse(text), metrics: undefined, database: settingsOf(database, `${folder.dir}/pgpass`) };
  const read = readRegistryConfig(JSON.stringify(file), 'config.yaml');
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const config = { ...read.config, listen: { host: '127.0.0.1', port: 0 } };
  const service = await startService(config, store, pino({ level: 'silent' }));
  try {
    const response = await fetch(service.url + path);
    return { status: response.status, body: (await response.json()) as object };
  } finally {
    await service.stop();
  }
}

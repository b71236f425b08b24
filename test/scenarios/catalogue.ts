// The catalogue of a story: registry sources as the product reads them, in a database of the story's own.

import { createOutbound } from '#adapters/http/outbound.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore } from '#adapters/postgres/store.ts';
import { systemClock } from '#hosts/clock.ts';
import { registrySource } from '#hosts/reconciler/instance/registry-sources.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import { createTestDatabase } from '../harness/database.ts';

export interface StoryCatalogue {
  readonly registries: RegistryDeps;
  close(): Promise<void>;
}

export async function openCatalogue(): Promise<StoryCatalogue> {
  const database = await createTestDatabase();
  const store = createStore(openPool(database.app));
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  const git = { outbound, allowFiles: false, dir: '/nowhere', clock: systemClock, credentials: [] };
  return {
    registries: { sourceFor: (view) => registrySource(git, view), storeFor: async () => store },
    async close() {
      await store.close();
      await Promise.all([outbound.close(), database.drop()]);
    },
  };
}

// Provides the images of enforcing registries from a snapshot. It syncs no source.

import assert from 'node:assert/strict';
import type { CatalogueWriter } from '#registry/catalogue/ports.ts';
import type { RegistryDeps } from '../catalogue/registries.ts';
import type { StateSnapshot } from './state-snapshot-format.ts';

export function snapshotRegistries({ images, createdAt }: StateSnapshot): RegistryDeps {
  return {
    sourceFor: () => ({ read: failSync }),
    async storeFor(kind, registry) {
      const { namespace = '', name } = registry.metadata;
      const known = images[`${namespace}/${name}`];
      const synced = { phase: 'Complete', message: '', attemptCount: 0, serverCount: 0, rejectedCount: 0 } as const;
      const states = kind
        .sources(registry)
        .map((source) => [source.name, { ...synced, lastSyncTime: createdAt }] as const);
      const writer: CatalogueWriter = {
        // The entries of a registry that was never synced are unknown. They must not appear to be empty.
        states: async () => (known === undefined ? {} : Object.fromEntries(states)),
        images: async () => new Set(known),
        provenance: async () => [],
        claim: failSync,
        leaveTrigger: failSync,
        retain: failSync,
        recordRunning: failSync,
        replace: failSync,
        record: failSync,
      };
      return writer;
    },
  };
}

function failSync(): never {
  return assert.fail('a plan syncs nothing');
}

// Implements the catalogue's store in PostgreSQL. Readers and writers share one pool.

import type pg from 'pg';
import type { CatalogueReader, CatalogueWriter, SourceKey, SourceWriter } from '#registry/catalogue/ports.ts';
import { changeOf, isEmpty } from './change.ts';
import { claimSource } from './claims.ts';
import { createOutlines } from './outlines.ts';
import type { Pool } from './pool.ts';
import {
  checkOutline,
  readCatalogueRevision,
  readEntryVersion,
  readEntryVersions,
  readImages,
  readProvenance,
} from './read.ts';
import { createRunningReader, writeRunning } from './running.ts';
import { readSources, readStates } from './states.ts';
import { countRequest, lockSource, readStored, writeChange, writeState, writeTrigger } from './write.ts';

export interface Store extends CatalogueWriter, CatalogueReader {
  /** Returns the sources of all registries, sorted. */
  sources(): Promise<readonly SourceKey[]>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Milliseconds after which a claim ends unless the claim is renewed. Default: 1 minute. */
  readonly claimMs?: number;
}

/** Opens no connection before the first call of a method. Every method throws the Failures of `codes.ts`. */
export function createStore(pool: Pool, { claimMs }: StoreOptions = {}): Store {
  const sources = () => pool.use((client) => readSources(client));
  return { ...writer(pool, claimMs), ...reader(pool), sources, close: () => pool.close() };
}

function writer(pool: Pool, claimMs: number | undefined): CatalogueWriter {
  return {
    ...sourceWriter(pool, async () => undefined),
    states: (registry) => pool.use((client) => readStates(client, registry)),
    images: (registry) => pool.use((client) => readImages(client, registry)),
    provenance: (registry) => pool.use((client) => readProvenance(client, registry)),
    claim: (key) => claimSource(pool, key, (fence) => sourceWriter(pool, fence), claimMs),
    recordRunning: (runner, servers, namespace) =>
      pool.use((client) => writeRunning(client, runner, servers, namespace)),
    leaveTrigger: (key, trigger) => pool.use((client) => writeTrigger(client, key, trigger)),

    retain: (registry, sources) =>
      pool.use(async (client) => {
        await client.query(
          'delete from catalogue_source where namespace = $1 and registry = $2 and source <> all ($3::text[])',
          [registry.namespace, registry.registry, sources],
        );
      }),
  };
}

/** In each transaction, the writer locks the source, then calls `fence`, then reads and writes rows. */
function sourceWriter(pool: Pool, fence: (client: pg.Client) => Promise<void>): SourceWriter {
  return {
    replace: (key, entries, state, now, hold = () => false) =>
      pool.transaction(async (client) => {
        await lockSource(client, key);
        await fence(client);
        const change = changeOf(await readStored(client, key), entries, hold, now());
        const after = typeof state === 'function' ? state(change.written) : state;
        const id = await writeState(client, key, after, !isEmpty(change));
        if (!isEmpty(change)) await writeChange(client, id, change, now);
        return change.written;
      }),

    record: (key, state) =>
      pool.transaction(async (client) => {
        await lockSource(client, key);
        await fence(client);
        await writeState(client, key, state, false);
      }),
  };
}

const NOBODY: SourceKey = { namespace: '', registry: '', source: '' };

function reader(pool: Pool): CatalogueReader {
  const readRunning = createRunningReader();
  return {
    ...createOutlines(pool),
    versions: (key, name, includeDeleted) => pool.use((client) => readEntryVersions(client, key, name, includeDeleted)),
    version: (key, name, version, includeDeleted) =>
      pool.use((client) => readEntryVersion(client, key, name, version, includeDeleted)),
    states: (registry) => pool.use((client) => readStates(client, registry)),
    running: (registry) => pool.use((client) => readRunning(client, registry)),
    requestSync: (key) => pool.use((client) => countRequest(client, key)),
    revision: (key) => pool.use((client) => readCatalogueRevision(client, key)),
    // Selects no rows, but fails if an older schema lacks a column. Running servers are not checked, because the
    // catalogue is served even without them.
    ping: () =>
      pool.use(async (client) => {
        await readStates(client, NOBODY);
        await readEntryVersion(client, NOBODY, '', 'latest', false);
        await checkOutline(client);
      }),
  };
}

// Reads from the catalogue which packages may run in place of images, again after each run that changed objects or the
// catalogue.

import type { RunResult } from '#reconciler/run/result.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { openDatabase } from '../database.ts';
import type { Instance } from '../reconciler/instance/instance.ts';
import type { PackagePrograms } from './package-programs.ts';
import { readRenderedConfigs } from './registries.ts';
import type { DevWorld } from './world.ts';

export interface FollowedPackages {
  /**
   * Reads the catalogue after a run that may have changed it. If the catalogue cannot be read, the packages of the last
   * reading stay in use.
   */
  ran(result: RunResult): Promise<void>;
  close(): Promise<void>;
}

/** `packages`: if undefined, no package may run, and the catalogue is not read. */
export function followPackages(
  packages: PackagePrograms | undefined,
  instance: Instance,
  { appDatabase, config, programsChanged }: Pick<DevWorld, 'appDatabase' | 'config' | 'programsChanged'>,
): FollowedPackages {
  if (packages === undefined) return { ran: async () => undefined, close: async () => undefined };
  const store = openDatabase(appDatabase);

  async function documentsOf(key: SourceKey): Promise<readonly JsonObject[]> {
    const documents: JsonObject[] = [];
    let after: Awaited<ReturnType<typeof store.list>>['next'];
    do {
      const page = await store.list(key, { limit: PAGE_SIZE, after, includeDeleted: false });
      documents.push(...page.entries.map(({ document }): unknown => JSON.parse(document)).filter(isObject));
      after = page.next;
    } while (after !== undefined);
    return documents;
  }

  async function read(): Promise<void> {
    const configs = await readRenderedConfigs(instance, config);
    const keys = configs.flatMap(({ namespace, registryName: registry, registries }) =>
      registries.map(({ name: source }) => ({ namespace, registry, source })),
    );
    const documents: JsonObject[] = [];
    for (const key of keys) documents.push(...(await documentsOf(key)));
    if (packages?.take(documents) === true) programsChanged();
  }

  let isRead = false;
  let last: Promise<void> = Promise.resolve();
  return {
    ran(result) {
      if (isRead && !hasNews(result)) return last;
      last = last.then(read).then(
        () => {
          isRead = true;
        },
        () => undefined,
      );
      return last;
    },
    async close() {
      await last;
      await store.close();
    },
  };
}

const PAGE_SIZE = 100;

/** Returns whether a run may have changed the registries or their content. */
export function hasNews({ catalogue, outcomes }: RunResult): boolean {
  return catalogue.some(({ action }) => action === 'synced') || outcomes.some(({ action }) => action !== 'unchanged');
}

// Reads the manifests of one source in a worker thread, and posts the results: YAML and CEL of an author may take long.

import { parentPort, workerData } from 'node:worker_threads';
import { KINDS } from '#reconciler/kinds/index.ts';
import { loadInput } from '#reconciler/run/read/checkout.ts';
import type { Allow } from '#reconciler/run/read/limits.ts';
import { type LoadInput, load } from '#reconciler/run/read/load.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import { noKeys, unsealFiles } from '#reconciler/run/read/unseal.ts';
import { readAgeKeyFile } from '../../config/age-key-file.ts';

/** Data with which the thread is started. */
export interface ReadOrder {
  readonly source: string;
  readonly allow?: Allow | undefined;
  readonly apiGroup: string;
  readonly ageKeyFile?: string | undefined;
  readonly documents: readonly SourceFile[];
}

/** Second message to the thread: the kinds that the cluster serves. */
export type KindsOfCluster = Pick<LoadInput, 'definitions' | 'served'>;

/** Messages of the thread: an entry has begun, an entry has been computed, all entries have been computed. */
export type ReadNews =
  | { readonly begun: string }
  | { readonly key: string; readonly value: unknown }
  | { readonly done: true };

function postNews(news: ReadNews): void {
  parentPort?.postMessage(news);
}

/** Returns a cache that posts each entry as soon as it has been computed. */
function openPostingCache(): LoadCache {
  const kept = new Map<string, unknown>();
  return {
    get(key) {
      const value = kept.get(key);
      if (value === undefined) postNews({ begun: key });
      return value;
    },
    set(key, value) {
      kept.set(key, value);
      postNews({ key, value });
    },
  };
}

const { source, allow, apiGroup, ageKeyFile, documents: written }: ReadOrder = workerData;
const cache = openPostingCache();
const keys = ageKeyFile === undefined ? noKeys(source) : () => readAgeKeyFile(ageKeyFile);
const documents = await unsealFiles(written, keys, cache);
const given = loadInput({ kinds: KINDS, apiGroup, cache }, { name: source, allow }, documents);
load(given);
postNews({ done: true });
parentPort?.on('message', (known: KindsOfCluster) => {
  load({ ...given, ...known });
  postNews({ done: true });
});

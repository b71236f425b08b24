// Runs as a thread that reads manifests of one source and posts the results: YAML and CEL of an author may take a long
// time.

import { parentPort, workerData } from 'node:worker_threads';
import { KINDS } from '#reconciler/kinds/index.ts';
import { loadInput } from '#reconciler/run/read/checkout.ts';
import type { Allow } from '#reconciler/run/read/limits.ts';
import { type LoadInput, load } from '#reconciler/run/read/load.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import { noKeys, unsealFiles } from '#reconciler/run/read/unseal.ts';
import { readAgeKeyFile } from '../../config/age-key-file.ts';

/** The order with which the thread is started. */
export interface ReadOrder {
  readonly source: string;
  readonly allow?: Allow | undefined;
  readonly apiGroup: string;
  readonly ageKeyFile?: string | undefined;
  readonly documents: readonly SourceFile[];
}

/** A later message to the thread: the kinds that the cluster serves. */
export type KindsOfCluster = Pick<LoadInput, 'definitions' | 'served'>;

/** Messages of the thread: an entry was begun, an entry was computed, the whole order was done. */
export type ReadNews =
  | { readonly begun: string }
  | { readonly key: string; readonly value: unknown }
  | { readonly done: true };

function postNews(news: ReadNews): void {
  parentPort?.postMessage(news);
}

/** Posts each computed entry as soon as it is ready. */
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

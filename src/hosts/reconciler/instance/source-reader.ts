// A thread that reads manifests of one source, and hands over what it found: YAML and CEL are whatever someone has written,
// and may take any time.

import { parentPort, workerData } from 'node:worker_threads';
import { KINDS } from '#reconciler/kinds/index.ts';
import { loadInput } from '#reconciler/run/read/checkout.ts';
import type { Allow } from '#reconciler/run/read/limits.ts';
import { type LoadInput, load } from '#reconciler/run/read/load.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import { noKeys, unsealFiles } from '#reconciler/run/read/unseal.ts';
import { readAgeKeyFile } from '../../config/age-key-file.ts';

/** What it is started with. */
export interface ReadOrder {
  readonly source: string;
  readonly allow?: Allow | undefined;
  readonly apiGroup: string;
  readonly ageKeyFile?: string | undefined;
  readonly documents: readonly SourceFile[];
}

/** What it gets afterwards: what the cluster knows about kinds of the source. */
export type KindsOfCluster = Pick<LoadInput, 'definitions' | 'served'>;

/** What it says: it begins to work out the entry; it has done so; everything that was asked is done. */
export type ReadNews =
  | { readonly begun: string }
  | { readonly key: string; readonly value: unknown }
  | { readonly done: true };

function postNews(news: ReadNews): void {
  parentPort?.postMessage(news);
}

/** Everything that is worked out goes to whoever waits for it, as soon as it is. */
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

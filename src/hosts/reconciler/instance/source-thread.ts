// Reads the manifests of a source in a worker thread with limits of time and memory, and stores the results in the
// cache of runs. Costly YAML and CEL of one source thus do not delay other sources.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Checkout } from '#reconciler/run/ports.ts';
import {
  askAbout,
  type LoadedSource,
  type LoadingInput,
  loadInput,
  readWritten,
} from '#reconciler/run/read/checkout.ts';
import { load } from '#reconciler/run/read/load.ts';
import type { LoadCache } from '#reconciler/run/read/source-file.ts';
import { findUnread, isQuick } from '#reconciler/run/read/unread.ts';
import { noKeys, unsealFiles } from '#reconciler/run/read/unseal.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin } from '../../clock.ts';
import type { KindsOfCluster, ReadNews, ReadOrder } from './source-reader.ts';

export interface ThreadSource extends LoadedSource {
  readonly ageKeyFile?: string | undefined;
}

/** Time limit before the addition for size. A fleet of 1,000 servers needs a tenth of this time. */
const READ_MS = 30_000;
/** Additional time for each MiB of manifests. */
const READ_MS_PER_MIB = 5_000;
const MEMORY_MIB = 256;
/** Additional memory for each MiB of manifests: parsed values need several times the size of their text. */
const MEMORY_MIB_PER_MIB = 8;
const MIB = 1024 * 1024;

const READER = new URL(`./source-reader${extname(import.meta.url)}`, import.meta.url);

/**
 * Reads all entries into the cache. Throws Failure `source-too-costly` if a limit is exceeded, and Failures of reading
 * the checkout.
 */
export async function readInThread(input: LoadingInput, source: ThreadSource, checkout: Checkout): Promise<void> {
  const { cache, apiGroup } = input;
  const { documents: written } = await readWritten(source, checkout, cache);
  const documents = findUnread(loadInput(input, source, written), cache);
  if (documents.length === 0 || isQuick(written, documents)) return;
  const { name, allow, ageKeyFile } = source;
  const thread = startThread({ source: name, allow, apiGroup, ageKeyFile, documents }, cache);
  try {
    await thread.ended();
    const opened = await unsealFiles(written, source.keys ?? noKeys(name), cache);
    const kinds = await askAbout(input.cluster, load(loadInput(input, source, opened)));
    if (kinds.definitions.length + (kinds.served?.length ?? 0) > 0) await thread.ended(kinds);
  } finally {
    await thread.close();
  }
}

interface ReadingThread {
  /**
   * Resolves when all entries have been computed. If `kinds` is set, the thread first computes the entries again with
   * these kinds.
   */
  ended(kinds?: KindsOfCluster): Promise<void>;
  close(): Promise<void>;
}

function startThread(order: ReadOrder, cache: LoadCache): ReadingThread {
  const mib = order.documents.reduce((sum, { text }) => sum + text.length, 0) / MIB;
  const limitMs = Math.ceil(READ_MS + mib * READ_MS_PER_MIB);
  const maxOldGenerationSizeMb = Math.ceil(MEMORY_MIB + mib * MEMORY_MIB_PER_MIB);
  const worker = new Worker(READER, { workerData: order, resourceLimits: { maxOldGenerationSizeMb } });
  let at = '';
  let next = openEnding();
  worker.on('message', (news: ReadNews) => {
    if ('begun' in news) at = news.begun;
    else if ('key' in news) cache.set(news.key, news.value);
    else next.resolve();
  });
  worker.on('error', (error) => next.reject(tooCostly(order, at, `ended with "${error.message}"`)));
  worker.on('exit', () => next.reject(tooCostly(order, at, 'ended')));
  return {
    async ended(kinds) {
      if (kinds !== undefined) {
        next = openEnding();
        worker.postMessage(kinds);
      }
      if (!(await awaitWithin(limitMs, next.promise))) throw tooCostly(order, at, `took more than ${limitMs / 1000} s`);
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Handles a rejection in advance, because no code may be waiting for the promise. */
function openEnding(): PromiseWithResolvers<void> {
  const ending = Promise.withResolvers<void>();
  ending.promise.catch(() => undefined);
  return ending;
}

/** Returns the Failure with the path of the file. The key of the cache ends with this path. */
function tooCostly({ source, documents }: ReadOrder, key: string, what: string): Failure {
  const path = documents.find((file) => key.endsWith(` ${file.path}`))?.path ?? 'its manifests';
  const message = `source ${source}: reading ${path} ${what}: the last good commit stays in use`;
  return new Failure('source-too-costly', message, { data: { source, path } });
}

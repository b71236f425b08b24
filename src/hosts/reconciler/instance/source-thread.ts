// Reads the manifests of a source in a thread of its own, with limits of time and memory, into the cache that runs read
// from: what one source makes of YAML and CEL keeps no other from its changes.

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

/** What a fleet of a thousand servers takes a tenth of. */
const READ_MS = 30_000;
/** For each MiB of manifests more. */
const READ_MS_PER_MIB = 5_000;
const MEMORY_MIB = 256;
/** For each MiB of manifests: what they say as values, several times over. */
const MEMORY_MIB_PER_MIB = 8;
const MIB = 1024 * 1024;

const READER = new URL(`./source-reader${extname(import.meta.url)}`, import.meta.url);

/**
 * Afterwards the cache has everything that was to be worked out. Throws Failure `source-too-costly` where that takes more
 * than it may, and what reading the checkout throws.
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
  /** Resolves once it has done what it was started with, or what it is asked now. */
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

/** No one may be waiting when it is rejected. */
function openEnding(): PromiseWithResolvers<void> {
  const ending = Promise.withResolvers<void>();
  ending.promise.catch(() => undefined);
  return ending;
}

/** Keys of the cache end with the path. */
function tooCostly({ source, documents }: ReadOrder, key: string, what: string): Failure {
  const path = documents.find((file) => key.endsWith(` ${file.path}`))?.path ?? 'its manifests';
  const message = `source ${source}: reading ${path} ${what}: the last good commit stays in use`;
  return new Failure('source-too-costly', message, { data: { source, path } });
}

// Wakes runs when custom resources change that no source declares (`scope: cluster`): a watch for each of our kinds, and a run
// shortly after each change. A watch whose connection broke goes on at its last version. If changes may have been missed, a run
// follows, which reads everything, as each run of the schedule does.

import { createHash } from 'node:crypto';
import type { WatchEvent, Watched, Watches } from '#adapters/cluster/watch.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { scopeOf } from '#reconciler/run/observe/scope.ts';
import type { ApiResource, Clock, Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

export interface ResourceWatchDeps {
  readonly cluster: Pick<Cluster, 'resources'> & { readonly watches: Omit<Watches, 'close'> };
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called once, shortly after the first of several changes. */
  readonly changed: () => void;
  /** Called when a watch fails for another reason than the failure before, and when it works again. */
  readonly say: (text: string) => void;
}

export interface ResourceWatchOptions {
  readonly apiGroup: string;
  readonly kinds: readonly string[];
  /** Names, or globs such as `team-*`. */
  readonly namespaces: readonly string[];
}

/** Changes that come together make one run. */
const GATHER_MS = 100;
/** A watch that lasted so long works: if it ends, the next one begins at once. */
const STEADY_MS = 10_000;
/** After watches that did not last: one pause after each, the last pause after all others. */
const RETRY_MS = [1000, 2000, 5000, 15_000, 30_000];

export interface ResourceWatching {
  /** Resolves when all watches have ended. Rejects with errors that are not Failures. */
  readonly ended: Promise<unknown>;
  /** Resolves and rejects as `ended` does. */
  end(): Promise<void>;
}

/** Begins at once. */
export function watchResources(deps: ResourceWatchDeps, options: ResourceWatchOptions): ResourceWatching {
  const ending = new AbortController();
  const { allows, names } = scopeOf(options.namespaces);
  const wake = gather(deps, ending.signal);
  const loops = options.kinds.flatMap((kind) =>
    (names ?? [undefined]).map((namespace) => {
      const find = async (): Promise<Watched> => ({ kind: await findKind(deps, options, kind), namespace });
      return keepWatching({ deps, wake, allows, signal: ending.signal, name: kind, find });
    }),
  );
  const ended = Promise.all(loops);
  return {
    ended,
    async end() {
      ending.abort();
      await ended;
    },
  };
}

function gather({ clock, changed }: ResourceWatchDeps, signal: AbortSignal): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    void clock.sleep(GATHER_MS, signal).then(() => {
      waiting = false;
      if (!signal.aborted) changed();
    });
  };
}

async function findKind({ cluster }: ResourceWatchDeps, { apiGroup }: ResourceWatchOptions, kind: string) {
  const served = await cluster.resources();
  const found = served.find((each: ApiResource) => each.kind === kind && groupOf(each.apiVersion) === apiGroup);
  if (found !== undefined) return found;
  throw new Failure('cluster-unknown-kind', `the cluster serves no ${kind} of ${apiGroup}: install the CRDs of skep`);
}

interface Keeping {
  readonly deps: ResourceWatchDeps;
  readonly wake: () => void;
  readonly allows: (namespace: string) => boolean;
  readonly signal: AbortSignal;
  /** Of the kind. */
  readonly name: string;
  readonly find: () => Promise<Watched>;
}

/** How far the watches of one kind have come. */
interface Progress {
  /** The next watch begins at it; undefined: at the version of a new list. */
  version: string | undefined;
  /** Whether changes may have come while nothing was watched. */
  mayHaveMissed: boolean;
  news: News;
  /** Watches in a row that did not last. */
  short: number;
  /** Code of the failure that was said last; undefined if the kind is watched. */
  reported: string | undefined;
}

/** Failures after which the server still has the events that follow the last version. */
const GOES_ON = new Set(['cluster-unreachable', 'cluster-busy', 'cluster-unauthorized']);

/** One watch after the other, until the signal. */
async function keepWatching(keeping: Keeping): Promise<void> {
  const { deps, signal, allows, name } = keeping;
  const news = createNews(allows);
  const progress: Progress = { version: undefined, mayHaveMissed: true, news, short: 0, reported: undefined };
  while (!signal.aborted) {
    const { lasted, failure } = await watchOnce(keeping, progress);
    if (signal.aborted) return;
    const goesOn = failure === undefined || GOES_ON.has(failure.code);
    if (!goesOn) Object.assign(progress, { version: undefined, mayHaveMissed: true, news: createNews(allows) });
    if (lasted && goesOn) continue;
    // Servers forget old versions as a matter of course.
    const isUsual = failure?.code === 'cluster-gone' && progress.short === 0;
    if (failure !== undefined && !isUsual && progress.reported !== failure.code) {
      deps.say(unwatched(name, failure));
      progress.reported = failure.code;
    }
    await deps.clock.sleep(RETRY_MS[Math.min(progress.short, RETRY_MS.length - 1)] ?? 0, signal);
    progress.short += 1;
  }
}

interface Ended {
  readonly lasted: boolean;
  readonly failure?: Failure;
}

async function watchOnce({ deps, wake, signal, name, find }: Keeping, progress: Progress): Promise<Ended> {
  const { watches } = deps.cluster;
  const over = new AbortController();
  let lasted = false;
  const noteLasting = (): void => {
    if (over.signal.aborted) return;
    lasted = true;
    if (progress.reported !== undefined) deps.say(`${name} is watched again`);
    [progress.short, progress.reported] = [0, undefined];
  };
  const watcher: Parameters<Watches['follow']>[2] = {
    opened() {
      if (progress.mayHaveMissed) wake();
      progress.mayHaveMissed = false;
      void deps.clock.sleep(STEADY_MS, over.signal).then(noteLasting);
    },
    report: (event) => {
      if (progress.news(event)) wake();
    },
    reached: (version) => {
      progress.version = version;
    },
  };
  try {
    const watched = await find();
    progress.version ??= await watches.version(watched);
    await watches.follow(watched, progress.version, watcher, signal);
    return { lasted };
  } catch (error) {
    if (error instanceof Failure) return { lasted, failure: error };
    throw error;
  } finally {
    over.abort();
  }
}

function unwatched(name: string, { code, message }: Failure): string {
  return `${name} is not watched (${code}: ${message}): its changes are found by the runs of the schedule`;
}

/** Returns whether a run may have something to do because of the event: statuses are written by runs themselves. */
type News = (event: WatchEvent) => boolean;

function createNews(allows: (namespace: string) => boolean): News {
  const known = new Map<string, string>();
  return ({ type, object }) => {
    const { uid = '', namespace = '' } = object.metadata;
    if (!allows(namespace)) return false;
    if (type === 'DELETED') {
      known.delete(uid);
      return true;
    }
    const digest = digestMetadata(object);
    if (known.get(uid) === digest) return false;
    known.set(uid, digest);
    return true;
  };
}

/** The generation moves with the spec, and not with the status. */
function digestMetadata({ metadata }: KubeObject): string {
  const { generation, labels, annotations, deletionTimestamp, finalizers, ownerReferences } = metadata;
  const seen = [generation, labels, annotations, deletionTimestamp, finalizers, ownerReferences];
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64');
}

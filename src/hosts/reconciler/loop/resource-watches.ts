// Wakes runs when custom resources change that no source declares (`scope: cluster`): a watch for each of our kinds, and a run
// shortly after each change. If a watch is lost, a run follows, which reads everything, as each run of the schedule does.

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
const RETRY_MS = [1000, 2000, 5000, 15_000, 30_000];

/** Begins at once. The returned function resolves when all watches have ended. */
export function watchResources(deps: ResourceWatchDeps, options: ResourceWatchOptions): () => Promise<void> {
  const ending = new AbortController();
  const { allows, names } = scopeOf(options.namespaces);
  const wake = gather(deps, ending.signal);
  const news = createNews((namespace) => allows(namespace));
  const loops = options.kinds.flatMap((kind) =>
    (names ?? [undefined]).map((namespace) => {
      const find = async (): Promise<Watched> => ({ kind: await findKind(deps, options, kind), namespace });
      return keepWatching({ deps, wake, news, signal: ending.signal, name: kind }, find);
    }),
  );
  return async () => {
    ending.abort();
    await Promise.all(loops);
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
  readonly news: News;
  readonly signal: AbortSignal;
  /** Of the kind. */
  readonly name: string;
}

/** One watch after the other, until the signal. */
async function keepWatching(keeping: Keeping, find: () => Promise<Watched>): Promise<void> {
  const { deps, wake, signal, name } = keeping;
  let failures = 0;
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      const watched = await find();
      const from = await deps.cluster.watches.version(watched);
      await followFrom(keeping, watched, from, () => {
        // Changes may have come while nothing was watched.
        wake();
        if (reported !== undefined) deps.say(`${name} is watched again`);
        [failures, reported] = [0, undefined];
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code === 'cluster-gone') continue;
      if (reported !== error.code) deps.say(unwatched(name, error));
      reported = error.code;
      await deps.clock.sleep(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, signal);
      failures += 1;
    }
  }
}

function unwatched(name: string, { code, message }: Failure): string {
  return `${name} is not watched (${code}: ${message}): its changes are found by the runs of the schedule`;
}

/** `opened` is called when the first of the watches has begun. */
async function followFrom(
  { deps, wake, news, signal }: Keeping,
  watched: Watched,
  from: string,
  opened: () => void,
): Promise<void> {
  const report = (event: WatchEvent): void => {
    if (news(event)) wake();
  };
  let version = await deps.cluster.watches.follow(watched, from, { opened, report }, signal);
  while (!signal.aborted) {
    version = await deps.cluster.watches.follow(watched, version, { opened: () => undefined, report }, signal);
  }
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

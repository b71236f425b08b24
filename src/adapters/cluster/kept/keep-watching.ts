// Watches one list, beginning at the resourceVersion of a LIST, until events are lost. If a watch ends, the next watch
// continues at the last received version.

import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import type { WatchEvent, Watched, Watches } from '../watch.ts';

export interface WatchingDeps {
  readonly watches: Omit<Watches, 'close'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Logs a new reason why a watch fails, or that the watch works again. */
  readonly say: (text: string) => void;
}

export interface Watching {
  /** The resourceVersion at which the next watch begins. */
  version: string;
  /** True while a watch is open, so that the server reports changes. */
  isOpen: boolean;
  /** Number of consecutive short watches. */
  short: number;
  /** Code of the last logged failure. undefined if the watch works. */
  reported: string | undefined;
}

export interface WatchListener {
  take(event: WatchEvent): void;
  /** Receives each resourceVersion up to which all events have arrived. */
  reached(version: string): void;
}

/** After this time a watch counts as working. When it ends, the next watch begins at once. */
const STEADY_MS = 10_000;
/** Pauses after consecutive short watches, in milliseconds. The last pause is repeated. */
const RETRY_MS = [100, 200, 500, 1000, 2000, 5000, 15_000, 30_000];
/** Failures after which the server can still send all later events. */
const GOES_ON = new Set(['cluster-unreachable', 'cluster-busy', 'cluster-unauthorized']);

/** Resolves with the failure by which events may have been lost. Resolves with undefined if the signal was aborted. */
export async function watchUntilLost(
  deps: WatchingDeps,
  watched: Watched,
  progress: Watching,
  listener: WatchListener,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  while (!signal.aborted) {
    const { lasted, failure } = await watchOnce(deps, watched, progress, listener, signal);
    if (signal.aborted) break;
    const isLost = failure !== undefined && !GOES_ON.has(failure.code);
    if (lasted && !isLost) continue;
    // Servers regularly discard old versions, so this failure is normal.
    const isUsual = failure?.code === 'cluster-gone' && progress.short === 0;
    if (failure !== undefined && !isUsual && progress.reported !== failure.code) {
      deps.say(textOfUnwatched(watched, failure));
      progress.reported = failure.code;
    }
    if (!isLost || !isUsual) await deps.clock.sleep(pauseAfter(progress), signal);
    progress.short += 1;
    if (isLost) return signal.aborted ? undefined : failure;
  }
  return undefined;
}

function pauseAfter({ short }: Watching): number {
  return RETRY_MS[Math.min(short, RETRY_MS.length - 1)] ?? 0;
}

interface EndOfWatch {
  readonly lasted: boolean;
  readonly failure?: Failure;
}

async function watchOnce(
  { watches, clock, say }: WatchingDeps,
  watched: Watched,
  progress: Watching,
  { take, reached }: WatchListener,
  signal: AbortSignal,
): Promise<EndOfWatch> {
  const over = new AbortController();
  let lasted = false;
  const noteLasting = (): void => {
    if (over.signal.aborted) return;
    lasted = true;
    if (progress.reported !== undefined) say(`${watched.kind.kind} is watched again`);
    [progress.short, progress.reported] = [0, undefined];
  };
  try {
    const watcher = {
      opened() {
        progress.isOpen = true;
        void clock.sleep(STEADY_MS, over.signal).then(noteLasting);
      },
      report: take,
      reached(version: string) {
        progress.version = version;
        reached(version);
      },
    };
    await watches.follow(watched, progress.version, watcher, signal);
    return { lasted };
  } catch (error) {
    if (error instanceof Failure) return { lasted, failure: error };
    throw error;
  } finally {
    progress.isOpen = false;
    over.abort();
  }
}

function textOfUnwatched({ kind }: Watched, { code, message }: Failure): string {
  return `${kind.kind} is not watched (${code}: ${message}): each run lists its objects`;
}

// Whose turn it is to be read: few sources at a time, for each may take as much memory as its content; one that takes long is
// mostly waiting, and then the next one need not, within a bound: a large one takes long too. Knows nothing about sources.

import pLimit from 'p-limit';

export interface Turns {
  /** Read at the same time, as long as each is quick. */
  readonly atATime: number;
  /** What takes longer gives its turn away, and goes on. */
  readonly slowMs: number;
  /**
   * All together. What took long may have been silent, or be large and in memory by now: nobody here can tell, so this
   * number is what bounds memory, and not `atATime`.
   */
  readonly most: number;
}

/** Of the largest files (64 MiB) 512 MiB of text at once, of the largest lists (256 MiB) 2 GiB: hardly any source is that large. */
export const TURNS: Turns = { atATime: 4, slowMs: 3_000, most: 8 };

export interface TurnClock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function openTurns(
  clock: TurnClock,
  { atATime, slowMs, most }: Turns = TURNS,
): <T>(work: () => Promise<T>) => Promise<T> {
  const quick = pLimit(atATime);
  const all = pLimit(most);
  return (work) =>
    all(async () => {
      const begun = await quick(async () => {
        const running = work();
        const ended = new AbortController();
        const ending = running.catch(() => undefined).finally(() => ended.abort());
        await Promise.race([ending, clock.sleep(slowMs, ended.signal)]);
        return { running };
      });
      return begun.running;
    });
}

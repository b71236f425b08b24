// Whose turn it is to be read: few sources at a time, for each may take as much memory as its content. One that is silent takes
// none, so the next one need not wait for it; once it answers it takes a turn like any other. Knows nothing about sources.

import pLimit, { type LimitFunction } from 'p-limit';

export interface Turns {
  /** With content in memory, or on its way. */
  readonly atATime: number;
  /** Who has been silent for so long gives its turn away, and goes on. */
  readonly slowMs: number;
  /** All together, those that are silent too. */
  readonly most: number;
}

const TURNS: Turns = { atATime: 4, slowMs: 3_000, most: 32 };

export interface TurnClock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Reports that the answer begins; resolves when it is the source's turn to take it in. May be called any number of times. */
export type Answered = () => Promise<void>;

export type InTurn = <T>(work: (answered: Answered) => Promise<T>) => Promise<T>;

export function openTurns(clock: TurnClock, { atATime, slowMs, most }: Turns = TURNS): InTurn {
  const loud = pLimit(atATime);
  const all = pLimit(most);
  return (work) =>
    all(async () => {
      let turn: Turn | undefined = takeTurn(loud);
      await turn.granted;
      let silent = true;
      const ended = new AbortController();
      void clock.sleep(slowMs, ended.signal).then(() => {
        if (!silent || ended.signal.aborted) return;
        turn?.giveBack();
        turn = undefined;
      });
      try {
        return await work(async () => {
          silent = false;
          turn ??= takeTurn(loud);
          await turn.granted;
        });
      } finally {
        ended.abort();
        turn?.giveBack();
      }
    });
}

interface Turn {
  readonly granted: Promise<void>;
  giveBack(): void;
}

function takeTurn(limit: LimitFunction): Turn {
  const [granted, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  void limit(() => {
    granted.resolve();
    return over.promise;
  });
  return { granted: granted.promise, giveBack: over.resolve };
}

// Limits how many sources are read at one time, because the content of each source needs memory. A source that has
// received little content after some time loses its turn, so that it does not block other sources.

import pLimit, { type LimitFunction } from 'p-limit';
import { Failure } from '#std/failure.ts';

export interface Turns {
  /** Maximum number of sources with a turn at one time. Only these may have much content in memory. */
  readonly atATime: number;
  /** After this time, a source with little content loses its turn and continues without a turn. */
  readonly slowMs: number;
  /** Content below this number of bytes is little. */
  readonly small: number;
  /** While other sources wait, a large content must grow by `bytes` in each period of `ms`. */
  readonly least: { readonly bytes: number; readonly ms: number };
  /** Maximum number of sources that are read at one time, including sources without a turn. */
  readonly most: number;
}

const TURNS: Turns = {
  atATime: 4,
  slowMs: 3_000,
  small: 512 * 1024,
  least: { bytes: 256 * 1024, ms: 15_000 },
  most: 64,
};

export interface TurnClock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Arrival {
  /** Receives the number of received bytes. The source awaits the returned promise before it reads more. */
  readonly arrived: (bytes: number) => Promise<void> | undefined;
  /** Reports that the content is complete. Resolves when the source has a turn. */
  readonly whole: () => Promise<void>;
  /** Aborted with a Failure if too little content arrives while other sources wait. */
  readonly tooSlow: AbortSignal;
}

export type InTurn = <T>(work: (arrival: Arrival) => Promise<T>) => Promise<T>;

/** Gives a turn at once, for callers that read one source at a time. */
export const readAlone: InTurn = (work) =>
  work({ arrived: () => undefined, whole: async () => undefined, tooSlow: new AbortController().signal });

export function openTurns(clock: TurnClock, limits: Turns = TURNS): InTurn {
  const turns = pLimit(limits.atATime);
  const all = pLimit(limits.most);
  return (work) =>
    all(async () => {
      const turn = takeTurn(turns);
      await turn.granted;
      const { arrival, end } = openArrival(clock, limits, turns, turn);
      try {
        return await work(arrival);
      } finally {
        end();
      }
    });
}

function openArrival(
  clock: TurnClock,
  { slowMs, small, least }: Turns,
  turns: LimitFunction,
  first: Turn,
): { readonly arrival: Arrival; end(): void } {
  let turn: Turn | undefined = first;
  let isKept = false;
  let bytes = 0;
  const [tooSlow, arrivedAll, ended] = [new AbortController(), new AbortController(), new AbortController()];

  function keepTurn(): Promise<void> {
    isKept = true;
    turn ??= takeTurn(turns);
    return turn.granted;
  }

  async function watchGrowth(): Promise<void> {
    for (let before = bytes; ; before = bytes) {
      await clock.sleep(least.ms, arrivedAll.signal);
      if (arrivedAll.signal.aborted) return;
      if (turns.pendingCount === 0 || bytes - before >= least.bytes) continue;
      tooSlow.abort(slowFailure(bytes - before, least.ms));
      return;
    }
  }

  void clock.sleep(slowMs, ended.signal).then(() => {
    if (isKept || ended.signal.aborted) return;
    turn?.giveBack();
    turn = undefined;
  });
  return {
    arrival: {
      arrived(now) {
        bytes = now;
        return isKept || now < small ? undefined : keepTurn().then(() => void watchGrowth());
      },
      whole() {
        arrivedAll.abort();
        return keepTurn();
      },
      tooSlow: tooSlow.signal,
    },
    end() {
      arrivedAll.abort();
      ended.abort();
      turn?.giveBack();
    },
  };
}

function slowFailure(bytes: number, ms: number): Failure {
  const message = `only ${bytes} bytes arrived within ${ms} ms while other sources waited: the sync is tried again later`;
  return new Failure('source-too-slow', message, { retryable: true });
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

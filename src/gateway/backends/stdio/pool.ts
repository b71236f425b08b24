// Lends processes that are used once. A request for a process waits, within limits, until a used process is replaced.

import { Failure } from '#std/failure.ts';
import type { LinkHandlers } from '../link.ts';
import type { Processes } from '../ports.ts';
import type { WaitingClient } from '../sessions/link.ts';
import { type LineParts, openLine, type ProcessLine } from './line.ts';

export interface Pool {
  /**
   * Opens the line to an unused process. Closing the line ends the process. Rejects with a Failure if no process is
   * available in time or the client disconnects.
   */
  take(handlers: LinkHandlers, client?: WaitingClient): Promise<ProcessLine>;
  /**
   * Resolves if a process runs, is in use or is being replaced. An unused process stays unused. Rejects with a Failure.
   */
  check(): Promise<void>;
}

export interface PoolParts extends Omit<LineParts, 'openStreams'> {
  readonly processes: Processes;
}

interface Slot {
  readonly index: number;
  taken: boolean;
  /** `Streams.instance` of the run that was used last. */
  used: string | undefined;
  /** Monotonic time at which the last use of the slot's process ended. undefined if no use has ended. */
  releasedAt: number | undefined;
}

interface State {
  readonly parts: PoolParts;
  readonly slots: readonly Slot[];
  /** All requests that have no process yet. */
  readonly takers: Set<Taker>;
  /** Callbacks of requests that wait for a process, the oldest first. */
  readonly waiting: (() => void)[];
}

interface Taker {
  /** Key of the client's caller. undefined if the process is not for a client. */
  readonly caller: string | undefined;
}

const RETRY_AFTER_SECONDS = 5;
/**
 * Time limit for the replacement of a process. A node needs 2 to 4 s to replace a container (measured with kubelet 1.36
 * and containerd).
 */
const RENEWAL_MS = 15_000;
const LOOK_AGAIN_MS = 250;
/**
 * Maximum number of waiting requests per process: in total, and for one caller, so that one caller cannot fill the
 * queue.
 */
const WAITING_PER_SLOT = 8;
const WAITING_PER_CALLER = 4;

/** Creates a pool of processes with the indices 0 to `size` - 1. */
export function createPool(parts: PoolParts, size: number): Pool {
  const slots = Array.from({ length: size }, (_, index) => ({
    ...{ index, taken: false, used: undefined, releasedAt: undefined },
  }));
  const state: State = { parts, slots, takers: new Set(), waiting: [] };
  return { take: (handlers, client) => takeSlot(state, handlers, client), check: () => checkSlots(state) };
}

async function takeSlot(state: State, handlers: LinkHandlers, client?: WaitingClient): Promise<ProcessLine> {
  const taker: Taker = { caller: client?.caller };
  if (mayNotWait(state, taker)) throw busy();
  state.takers.add(taker);
  try {
    return await waitForProcess(state, handlers, client);
  } finally {
    state.takers.delete(taker);
  }
}

async function waitForProcess(state: State, handlers: LinkHandlers, client?: WaitingClient): Promise<ProcessLine> {
  const { parts, waiting } = state;
  const deadline = parts.clock.monotonic() + RENEWAL_MS;
  // A new request waits behind earlier requests.
  if (waiting.length > 0) await waitForSlot(state);
  let made = false;
  for (;;) {
    // A process can be used only once, so a disconnected client must not use a process.
    if (client?.left() === true) throw busy();
    const { line, failure } = await trySlots(state, handlers);
    if (line !== undefined) return line;
    // Failures are expected while a process is being replaced, because attaching to a container that does not run yet
    // fails in many ways.
    if (!isRenewing(state) || parts.clock.monotonic() >= deadline) throw failure ?? busy();
    // Each request ends at most one session. No session is ended while a process is being replaced.
    if (!made && !isReleased(state)) made = client?.makeRoom() === true;
    await waitForSlot(state);
  }
}

/**
 * Returns true if too many requests have no process yet, in total or of this caller. One request per process is not
 * counted as waiting.
 */
function mayNotWait({ slots, takers }: State, { caller }: Taker): boolean {
  const own = caller === undefined ? 0 : [...takers].filter((taker) => taker.caller === caller).length;
  return takers.size >= slots.length * (1 + WAITING_PER_SLOT) || own >= slots.length * (1 + WAITING_PER_CALLER);
}

function busy(): Failure {
  const data = { reason: 'busy', retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new Failure('stdio-busy', 'every process serves a session', { data, retryable: true });
}

/** Resolves when a process is released, or after LOOK_AGAIN_MS, because no event announces a new process. */
function waitForSlot({ parts, waiting }: State): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = parts.clock.after(LOOK_AGAIN_MS, wake);
    waiting.push(wake);

    function wake(): void {
      stopWaiting();
      const at = waiting.indexOf(wake);
      if (at >= 0) waiting.splice(at, 1);
      resolve();
    }
  });
}

interface Tried {
  readonly line: ProcessLine | undefined;
  /** Failure of the last attempt. undefined if no attempt failed. */
  readonly failure: Failure | undefined;
}

async function trySlots(state: State, handlers: LinkHandlers): Promise<Tried> {
  let failure: Failure | undefined;
  for (const slot of state.slots) {
    if (slot.taken) continue;
    slot.taken = true;
    try {
      const line = await openFresh(state, slot, handlers);
      if (line !== undefined) return { line, failure: undefined };
    } catch (error) {
      slot.taken = false;
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
  }
  return { line: undefined, failure };
}

/** Opens the line to the process. Returns undefined if the used process has not been replaced yet. */
async function openFresh(state: State, slot: Slot, handlers: LinkHandlers): Promise<ProcessLine | undefined> {
  const parts = { ...state.parts, openStreams: state.parts.processes.open };
  const line = await openLine(parts, slot.index, {
    ...handlers,
    closed(detail) {
      freeSlot(state, slot);
      handlers.closed(detail);
    },
  });
  if (line.instance === slot.used) {
    await releaseSlot(state, slot, line);
    return undefined;
  }
  slot.used = line.instance;
  return { ...line, close: () => releaseSlot(state, slot, line) };
}

async function releaseSlot(state: State, slot: Slot, line: ProcessLine): Promise<void> {
  await line.close();
  freeSlot(state, slot);
}

function freeSlot({ parts, waiting }: State, slot: Slot): void {
  slot.taken = false;
  slot.releasedAt = parts.clock.monotonic();
  waiting[0]?.();
}

/** Returns true if a process is in use, or if it ended so recently that its replacement may not run yet. */
function isRenewing(state: State): boolean {
  return state.slots.some(({ taken }) => taken) || isReleased(state);
}

function isReleased({ parts, slots }: State): boolean {
  const since = parts.clock.monotonic() - RENEWAL_MS;
  return slots.some(({ taken, releasedAt = -Infinity }) => !taken && releasedAt > since);
}

async function checkSlots(state: State): Promise<void> {
  if (isRenewing(state)) return;
  const { parts, slots } = state;
  let failure: Failure | undefined;
  for (const { index } of slots) {
    try {
      await parts.processes.check(index);
      return;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
  }
  throw failure ?? busy();
}

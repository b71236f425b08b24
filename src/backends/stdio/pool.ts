// Processes for one use each: given out one at a time, never twice. Knows nothing about sessions and MCP.

import { Failure } from '../../std/failure.ts';
import type { LinkHandlers } from '../link.ts';
import { type LineParts, openLine, type ProcessLine } from './line.ts';

export interface Pool {
  /** The line to a process that no other has used; closing it ends the process. Rejects with a Failure. */
  take(handlers: LinkHandlers): Promise<ProcessLine>;
  /** Why the last attempt failed; undefined after one that did not, null before the first. */
  lastFailure(): string | undefined | null;
}

interface Slot {
  readonly index: number;
  taken: boolean;
  /** The run of the process that was used. */
  used: string | undefined;
  /** Monotonic time before which it is not tried again. */
  notBefore: number;
}

interface State {
  readonly parts: LineParts;
  readonly slots: readonly Slot[];
  failure: string | undefined | null;
}

const RETRY_AFTER_SECONDS = 5;
/** A process that has not ended yet, or cannot be reached, is left alone for so long. */
const LEFT_ALONE_MS = 1000;

/** The processes have the indices from 0 to `size`, without that. */
export function createPool(parts: LineParts, size: number): Pool {
  const slots = Array.from({ length: size }, (_, index) => ({ index, taken: false, used: undefined, notBefore: 0 }));
  const state: State = { parts, slots, failure: null };
  return { take: (handlers) => takeSlot(state, handlers), lastFailure: () => state.failure };
}

async function takeSlot(state: State, handlers: LinkHandlers): Promise<ProcessLine> {
  const now = state.parts.clock.monotonic();
  let failure: Failure | undefined;
  for (const slot of state.slots) {
    if (slot.taken || slot.notBefore > now) continue;
    slot.taken = true;
    try {
      const line = await openFresh(state, slot, handlers);
      state.failure = undefined;
      if (line !== undefined) return line;
    } catch (error) {
      slot.taken = false;
      if (!(error instanceof Failure)) throw error;
      slot.notBefore = now + LEFT_ALONE_MS;
      state.failure = error.message;
      failure = error;
    }
  }
  const data = { reason: 'busy', retryAfterSeconds: RETRY_AFTER_SECONDS };
  throw failure ?? new Failure('stdio-busy', 'every process serves a session', { data, retryable: true });
}

/** Undefined where the process is still the run that was used. */
async function openFresh({ parts }: State, slot: Slot, handlers: LinkHandlers): Promise<ProcessLine | undefined> {
  const line = await openLine(parts, slot.index, {
    ...handlers,
    closed(detail) {
      slot.taken = false;
      handlers.closed(detail);
    },
  });
  if (line.instance === slot.used) {
    slot.notBefore = parts.clock.monotonic() + LEFT_ALONE_MS;
    await releaseSlot(slot, line);
    return undefined;
  }
  slot.used = line.instance;
  return { ...line, close: () => releaseSlot(slot, line) };
}

async function releaseSlot(slot: Slot, line: ProcessLine): Promise<void> {
  await line.close();
  slot.taken = false;
}

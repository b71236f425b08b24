// Limits the cost of processing many objects: other work gets its turn in between, and there is a maximum.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';

const MIB = 1024 * 1024;

export interface PackLimits {
  /** Bytes of all objects: packed, they can be a thousand times smaller. */
  readonly totalBytes: number;
  /** Bytes of the base or the result of a delta. Other objects can be larger, because they are not kept. */
  readonly deltaBytes: number;
  /** Bytes of bases and results of deltas in memory at a time. */
  readonly aliveBytes: number;
  /** Bytes of all objects from which an object is built: a reader may have to build all of them. */
  readonly chainBytes: number;
  readonly objects: number;
}

/** The largest file that most servers accept has 100 MiB. */
export const PACK_LIMITS: PackLimits = {
  totalBytes: 4096 * MIB,
  deltaBytes: 128 * MIB,
  aliveBytes: 256 * MIB,
  chainBytes: 512 * MIB,
  objects: 500_000,
};

/** Bytes after which other work gets its turn; they take a few milliseconds. */
const TURN_BYTES = MIB;

/** Cost of an object in addition to its bytes. */
export const OBJECT_BYTES = 4096;

/** Bytes that may be processed for each requested byte: deltas build on each other. */
const WORK_MAX = 16;

/**
 * Counts the bytes of an object, and the bytes that were processed for it. Rejects with Failure `git-too-large` if they
 * exceed the budget.
 */
export type Spend = (bytes: number, work?: number) => Promise<void>;

/** Returns a function that counts bytes. `what` is the noun for the objects in the message. */
export function openBudget(what: string, maxBytes: number): Spend {
  let total = 0;
  let allWork = 0;
  let turn = 0;
  return async (bytes, work = bytes) => {
    total += bytes;
    allWork += work;
    if (total > maxBytes || allWork > WORK_MAX * maxBytes) throw tooLarge(what, maxBytes);
    turn += work + OBJECT_BYTES;
    if (turn < TURN_BYTES) return;
    turn = 0;
    await setImmediate();
  };
}

export function tooLarge(what: string, maxBytes: number): Failure {
  return new Failure('git-too-large', `${what} has more than ${maxBytes} bytes`, { data: { maxBytes } });
}

/** Returns the SHA-1 of all pieces, one after the other. */
export async function hashInTurns(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const hash = createHash('sha1');
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += TURN_BYTES) {
      if (at > 0) await setImmediate();
      hash.update(piece.subarray(at, at + TURN_BYTES));
    }
  }
  return hash.digest();
}

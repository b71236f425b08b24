// Limits the bytes that are processed for many objects, and yields to the event loop in between.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';

const MIB = 1024 * 1024;

export interface PackLimits {
  /** Uncompressed bytes of all objects. In a pack, objects can be a thousand times smaller. */
  readonly totalBytes: number;
  /** Bytes of the base or result of a delta. Other objects may be larger, because they are not kept in memory. */
  readonly deltaBytes: number;
  /** Bytes of bases and results of deltas that are in memory at the same time. */
  readonly aliveBytes: number;
  /** Bytes of an object and all its bases, all of which a reader may have to build. */
  readonly chainBytes: number;
  readonly objects: number;
}

/** Most servers accept files of at most 100 MiB. */
export const PACK_LIMITS: PackLimits = {
  totalBytes: 4096 * MIB,
  deltaBytes: 128 * MIB,
  aliveBytes: 256 * MIB,
  chainBytes: 512 * MIB,
  objects: 500_000,
};

/** Bytes between two yields to the event loop. Their processing takes a few milliseconds. */
const TURN_BYTES = MIB;

/** Cost of an object in bytes, in addition to the bytes of its content. */
export const OBJECT_BYTES = 4096;

/** The processed bytes may be this many times `maxBytes`, because deltas build on deltas. */
const WORK_MAX = 16;

/**
 * Adds the bytes of an object, and the bytes processed for it. Rejects with Failure `git-too-large` if the budget is
 * exceeded.
 */
export type Spend = (bytes: number, work?: number) => Promise<void>;

/** Opens a budget. `what` is the noun for the data in the error message. */
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

/** Returns the SHA-1 of the concatenated pieces. */
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

// What going through many objects may cost: others have their turn in between, and it has an end. Knows nothing about objects.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../../std/failure.ts';

const MIB = 1024 * 1024;

export interface PackLimits {
  /** Bytes of all objects: what is packed can be a thousand times smaller. */
  readonly totalBytes: number;
  /** Bytes of an object that a delta makes or builds on. Others can be larger: nothing is kept of them. */
  readonly deltaBytes: number;
  /** Bytes of such objects that are in memory at a time. */
  readonly aliveBytes: number;
}

/** The largest file that most servers take has 100 MiB. */
export const PACK_LIMITS: PackLimits = { totalBytes: 4096 * MIB, deltaBytes: 128 * MIB, aliveBytes: 256 * MIB };

/** A few milliseconds. */
const TURN_BYTES = MIB;

/** What an object costs beside its bytes. */
const OBJECT_BYTES = 4096;

/** Called for each object, with its bytes. Rejects with Failure `git-too-large` where it is one too many. */
export type Spend = (bytes: number) => Promise<void>;

/** `what`: of which there is too much, for the message. */
export function openBudget(what: string, maxBytes: number): Spend {
  let total = 0;
  let turn = 0;
  return async (bytes) => {
    total += bytes;
    if (total > maxBytes) throw tooLarge(what, maxBytes);
    turn += bytes + OBJECT_BYTES;
    if (turn < TURN_BYTES) return;
    turn = 0;
    await setImmediate();
  };
}

export function tooLarge(what: string, maxBytes: number): Failure {
  return new Failure('git-too-large', `${what} comes to more than ${maxBytes} bytes`, { data: { maxBytes } });
}

/** SHA-1 of all pieces, one after the other. */
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

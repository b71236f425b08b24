// Applies Git's deltas, which describe an object by copies from a base object and new bytes (gitformat-pack(5),
// "Deltified representation").

import { setImmediate } from 'node:timers/promises';

/** `code` of the error if the object would exceed the caller's size limit. */
export const TOO_LARGE = 'ERR_GIT_OBJECT_TOO_LARGE';

/** Maximum number of 7-bit digits in a size. A larger size exceeds the exact integers of JavaScript. */
const DIGITS_MAX = 8;

/** Returns the object that the delta describes. Throws RangeError if the delta does not fit its base. */
export function applyDelta(base: Uint8Array, delta: Uint8Array, maxBytes: number): Buffer {
  const steps = applySteps(base, delta, maxBytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Like `applyDelta`, but yields to the event loop. */
export async function applyDeltaInTurns(base: Uint8Array, delta: Uint8Array, maxBytes: number): Promise<Buffer> {
  const steps = applySteps(base, delta, maxBytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** Instructions between two yields to the event loop. Their execution takes a few milliseconds. */
const STEP_INSTRUCTIONS = 30_000;
const STEP_BYTES = 8 * 1024 * 1024;

function* applySteps(base: Uint8Array, delta: Uint8Array, maxBytes: number): Generator<void, Buffer> {
  const reader = { delta, at: 0 };
  if (readSize(reader) !== base.length) throw new RangeError('delta is for another base');
  const size = readSize(reader);
  if (size > maxBytes) throw Object.assign(new RangeError(`object of ${size} bytes`), { code: TOO_LARGE });
  const target = Buffer.allocUnsafe(size);
  let filled = 0;
  let stepEnd = STEP_BYTES;
  for (let instructions = 1; reader.at < delta.length; instructions += 1) {
    const piece = nextPiece(reader, base);
    if (filled + piece.length > size) throw new RangeError('delta makes more than announced');
    target.set(piece, filled);
    filled += piece.length;
    if (instructions % STEP_INSTRUCTIONS !== 0 && filled < stepEnd) continue;
    stepEnd = filled + STEP_BYTES;
    yield;
  }
  if (filled !== size) throw new RangeError('delta makes less than announced');
  return target;
}

/** Returns the size of the delta's result. Throws RangeError if the delta is too short. */
export function sizeMade(delta: Uint8Array): number {
  const reader = { delta, at: 0 };
  readSize(reader);
  return readSize(reader);
}

interface DeltaReader {
  readonly delta: Uint8Array;
  at: number;
}

function nextPiece(reader: DeltaReader, base: Uint8Array): Uint8Array {
  const instruction = readByte(reader);
  if (instruction === 0) throw new RangeError('delta holds a reserved instruction');
  if (instruction < 0x80) {
    const end = reader.at + instruction;
    if (end > reader.delta.length) throw new RangeError('delta ends early');
    const inserted = reader.delta.subarray(reader.at, end);
    reader.at = end;
    return inserted;
  }
  const offset = readBytes(reader, instruction & 0x0f, 4);
  const size = readBytes(reader, (instruction >> 4) & 0x07, 3) || 0x10000;
  if (offset + size > base.length) throw new RangeError('delta copies from beyond its base');
  return base.subarray(offset, offset + size);
}

/** Reads a little-endian number. Only bytes whose bit in `present` is set are stored. Other bytes are zero. */
function readBytes(reader: DeltaReader, present: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index += 1) {
    if (present & (1 << index)) value += readByte(reader) * 2 ** (8 * index);
  }
  return value;
}

/** Reads a number with seven bits per byte, least significant first. The high bit marks that another byte follows. */
function readSize(reader: DeltaReader): number {
  let value = 0;
  for (let digit = 0, scale = 1; digit < DIGITS_MAX; digit += 1, scale *= 128) {
    const byte = readByte(reader);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  throw new RangeError('size without end');
}

function readByte(reader: DeltaReader): number {
  const byte = reader.delta[reader.at];
  if (byte === undefined) throw new RangeError('delta ends early');
  reader.at += 1;
  return byte;
}

// Replaces parts of a body by other bytes and leaves the rest as it was.

import type { Span } from './message.ts';

export interface Patch {
  readonly span: Span;
  readonly bytes: Buffer;
}

/** `patches` are sorted by position and do not overlap; an empty span inserts. Without patches it is the body itself. */
export function patchBytes(body: Buffer, patches: readonly Patch[]): Buffer {
  return patches.length === 0 ? body : Buffer.concat(patchedParts(body, 0, body.length, patches));
}

/** The parts of `body` from `start` to `end` with `patches` in their places. */
export function patchedParts(body: Buffer, start: number, end: number, patches: readonly Patch[]): Buffer[] {
  const parts: Buffer[] = [];
  let from = start;
  for (const { span, bytes } of patches) {
    if (span.start < from || span.end < span.start || span.end > end) {
      throw new RangeError(`patch ${span.start}-${span.end} lies outside ${from}-${end}`);
    }
    parts.push(body.subarray(from, span.start), bytes);
    from = span.end;
  }
  parts.push(body.subarray(from, end));
  return parts;
}

/** The JSON string of a text. */
export function jsonString(text: string): Buffer {
  return Buffer.from(JSON.stringify(text));
}

// Replaces parts of a body with other bytes. All other bytes stay unchanged.

import type { Span } from './message.ts';

export interface Patch {
  readonly span: Span;
  readonly bytes: Buffer;
}

/**
 * Applies patches that are sorted by position and do not overlap. A patch with an empty span inserts bytes. Returns the
 * body itself if the list is empty.
 */
export function patchBytes(body: Buffer, patches: readonly Patch[]): Buffer {
  return patches.length === 0 ? body : Buffer.concat(patchedParts(body, 0, body.length, patches));
}

/** Returns the bytes of `body` from `start` to `end` with the patches applied, in several pieces. */
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

export function jsonString(text: string): Buffer {
  return Buffer.from(JSON.stringify(text));
}

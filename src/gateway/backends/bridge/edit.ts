// Edits JSON bytes: adds and removes members of objects, and removes elements of lists. All other bytes stay unchanged.

import { afterSpace, type MemberSpan, objectMembers } from '../../wire/json-walk.ts';
import type { Span } from '../../wire/message.ts';
import { type Patch, patchBytes } from '../../wire/patch.ts';

/** Applies patches, which must not overlap. Their order does not matter. */
export function applyPatches(bytes: Buffer, patches: readonly Patch[]): Buffer {
  if (patches.length < 2) return patchBytes(bytes, patches);
  return patchBytes(
    bytes,
    [...patches].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end),
  );
}

export function replaceSpan(span: Span, text: string): Patch {
  return { span, bytes: Buffer.from(text) };
}

/**
 * Returns a patch that adds members at the start of the object at `at`. `members` is JSON text such as
 * `"key":value,"key":value`.
 */
export function addMembers(bytes: Buffer, at: number, members: string): Patch {
  const empty = bytes[afterSpace(bytes, at + 1)] === 0x7d;
  return replaceSpan({ start: at + 1, end: at + 1 }, empty ? members : `${members},`);
}

/**
 * Returns patches that remove the members whose keys `drop` selects, and add the members `added`. Builds all patches of
 * one object together, so that the commas are correct. Returns undefined if no object begins at `at`.
 */
export function changeMembers(
  bytes: Buffer,
  at: number,
  drop: (key: string) => boolean,
  added: readonly string[] = [],
): readonly Patch[] | undefined {
  const members = objectMembers(bytes, at);
  return members === undefined ? undefined : patchesOf(members, at, drop, added);
}

/** Works like `changeMembers`, for an object whose members are already parsed. */
export function patchesOf(
  members: readonly MemberSpan[],
  at: number,
  drop: (key: string) => boolean,
  added: readonly string[] = [],
): readonly Patch[] {
  const dropped = members.map(({ key }) => drop(key));
  const spans = members.map(({ start, value }) => ({ start, end: value.end }));
  const patches = dropSpans(spans, dropped);
  if (added.length === 0) return patches;
  const more = dropped.includes(false) ? ',' : '';
  return [replaceSpan({ start: at + 1, end: at + 1 }, added.join(',') + more), ...patches];
}

export function dropElements(elements: readonly Span[], drop: (index: number) => boolean): readonly Patch[] {
  return dropSpans(
    elements,
    elements.map((_, index) => drop(index)),
  );
}

const NOTHING = Buffer.alloc(0);

/**
 * Returns patches that remove items of a comma-separated list, each with the comma after the item. For items at the end
 * of the list, the patch removes the comma before the item.
 */
function dropSpans(spans: readonly Span[], dropped: readonly boolean[]): readonly Patch[] {
  const patches: Patch[] = [];
  const lastKept = dropped.lastIndexOf(false);
  for (const [index, span] of spans.entries()) {
    const next = spans[index + 1];
    if (dropped[index] !== true || index > lastKept || next === undefined) continue;
    patches.push({ span: { start: span.start, end: next.start }, bytes: NOTHING });
  }
  const first = spans[lastKept + 1];
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return patches;
  const start = spans[lastKept]?.end ?? first.start;
  patches.push({ span: { start, end: last.end }, bytes: NOTHING });
  return patches;
}

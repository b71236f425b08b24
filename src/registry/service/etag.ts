// Computes entity tags of responses that depend only on the catalogue's revision and the request (RFC 9110 section
// 8.8.3).

import { sha256 } from '#std/hash.ts';

/** Returns a weak tag, because compressed and plain responses share it. `parts`: all inputs of the response. */
export function entityTag(...parts: readonly string[]): string {
  return `W/"${sha256(JSON.stringify(parts)).slice(0, 32)}"`;
}

/** Returns whether an If-None-Match header names the tag; weak comparison (RFC 9110 section 13.1.2). */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (isAnyTag(ifNoneMatch)) return true;
  return opaqueTags(ifNoneMatch ?? '').some((known) => opaqueTags(tag).includes(known));
}

/** `*` matches any existing content (RFC 9110 section 13.1.2). */
export function isAnyTag(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}

function opaqueTags(header: string): readonly string[] {
  return header.match(/"[^"]*"/g) ?? [];
}

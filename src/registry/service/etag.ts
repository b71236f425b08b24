// Computes and compares entity tags (RFC 9110 section 8.8.3).

import { sha256 } from '#std/hash.ts';

/** Returns a weak tag, because compressed and plain responses share it. `parts` are all inputs of the response. */
export function entityTag(...parts: readonly string[]): string {
  return `W/"${sha256(JSON.stringify(parts)).slice(0, 32)}"`;
}

/** Returns whether If-None-Match names the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (isAnyTag(ifNoneMatch)) return true;
  return opaqueTags(ifNoneMatch ?? '').some((known) => opaqueTags(tag).includes(known));
}

/** Returns whether the header is `*`, which matches any existing content (RFC 9110 section 13.1.2). */
export function isAnyTag(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}

function opaqueTags(header: string): readonly string[] {
  return header.match(/"[^"]*"/g) ?? [];
}

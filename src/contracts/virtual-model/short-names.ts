// Shortens long names for clients. A shortened name ends in a digest of the whole name.

import { sha256 } from '#std/hash.ts';

/** Model providers refuse whole requests if the name of a tool is longer. */
export const NAME_MAX = 64;

const DIGEST = 8;

/** Returns the name itself if it is short enough. */
export function fitName(name: string): string {
  if (name.length <= NAME_MAX) return name;
  const head = name.slice(0, NAME_MAX - DIGEST - 1).replace(/[\ud800-\udbff]$/, '');
  return `${head}_${sha256(name).slice(0, DIGEST)}`;
}

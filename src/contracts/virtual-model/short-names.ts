// Shortens long names of tools for clients. A shortened name ends with a digest of the whole name.

import { sha256 } from '#std/hash.ts';

/** Model providers refuse requests with a tool whose name is longer. */
export const NAME_MAX = 64;

const DIGEST = 8;

/** Returns the name unchanged if it is short enough. */
export function fitName(name: string): string {
  if (name.length <= NAME_MAX) return name;
  const head = name.slice(0, NAME_MAX - DIGEST - 1).replace(/[\ud800-\udbff]$/, '');
  return `${head}_${sha256(name).slice(0, DIGEST)}`;
}

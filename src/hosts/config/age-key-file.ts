// Reads the private age keys of a mounted file at each use, because such files change while the program runs.

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { readAgeKeys } from '#std/sops/age-keys.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import { decodeFile } from '#std/utf8.ts';

/** What is wrong with the file is a problem of the documents that need it, and of nothing else. */
export async function readAgeKeyFile(path: string): Promise<SopsKeys> {
  try {
    const file = await stat(path);
    if (!file.isFile()) return unusable(path, 'it is no file');
    const { mode, uid } = file;
    // As ssh demands it of keys that are the user's own; a mounted Secret is root's and readable by a group.
    const others = uid === process.getuid?.() ? 0o077 : 0o007;
    if ((mode & others) !== 0) return unusable(path, `its mode ${(mode & 0o777).toString(8)} lets others read it`);
    const decoded = decodeFile(await readFile(path));
    if ('fault' in decoded) return unusable(path, decoded.fault);
    const read = await readAgeKeys(decoded.text);
    return read.ok ? { type: 'keys', keys: read.keys } : unusable(path, read.reason);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return unusable(path, 'it cannot be read');
    throw error;
  }
}

/** For what only compares: without the file, ciphertext is compared. */
export async function readAgeKeyFileIfPresent(path: string): Promise<SopsKeys> {
  return existsSync(path) ? readAgeKeyFile(path) : { type: 'none' };
}

function unusable(path: string, reason: string): SopsKeys {
  const message = `The age keys that the document needs cannot be had from ${path}: ${reason}.`;
  return { type: 'none', fault: { code: 'sops-key-unreadable', message } };
}

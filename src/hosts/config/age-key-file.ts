// Reads private age keys from a file at each use, because the file may change while the program runs.

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { readAgeKeys } from '#std/sops/age-keys.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import { decodeFile } from '#std/utf8.ts';

/** Returns a fault if the file cannot be used, so that only documents that need the keys have a problem. */
export async function readAgeKeyFile(path: string): Promise<SopsKeys> {
  try {
    const file = await stat(path);
    if (!file.isFile()) return unusable(path, 'it is not a file');
    const { mode, uid } = file;
    // A file of the user must be private, as ssh requires for keys. A mounted Secret belongs to root and may be
    // readable for a group.
    const others = uid === process.getuid?.() ? 0o077 : 0o007;
    if ((mode & others) !== 0) return unusable(path, `its mode ${(mode & 0o777).toString(8)} lets other users read it`);
    const decoded = decodeFile(await readFile(path));
    if ('fault' in decoded) return unusable(path, decoded.fault);
    const read = await readAgeKeys(decoded.text);
    return read.ok ? { type: 'keys', keys: read.keys } : unusable(path, read.reason);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return unusable(path, 'it cannot be read');
    throw error;
  }
}

/** Returns no keys if the file does not exist. Commands that only compare documents then compare ciphertext. */
export async function readAgeKeyFileIfPresent(path: string): Promise<SopsKeys> {
  return existsSync(path) ? readAgeKeyFile(path) : { type: 'none' };
}

function unusable(path: string, reason: string): SopsKeys {
  const message = `The age keys that the document needs cannot be read from ${path}: ${reason}.`;
  return { type: 'none', fault: { code: 'sops-key-unreadable', message } };
}

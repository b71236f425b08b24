// Stores the token of `skep dev` in its state folder, so that clients can use the token after a restart.

import { randomBytes } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';

const TOKEN_BYTES = 24;
/** base64url of `TOKEN_BYTES` bytes. */
const TOKEN = /^[\w-]{32}$/;
const OTHERS = 0o077;

/**
 * Returns the token in the file. Writes a new token if the file contains none, if other users have rights on the file,
 * or if `fresh` is true.
 */
export async function openToken(file: string, fresh: boolean): Promise<string> {
  const kept = fresh ? undefined : await readToken(file);
  if (kept !== undefined) return kept;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await writePrivately(file, `${token}\n`);
  return token;
}

async function readToken(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stats === undefined || !stats.isFile() || (stats.mode & OTHERS) !== 0) return undefined;
  const text = (await readFile(file, 'utf8')).trim();
  return TOKEN.test(text) ? text : undefined;
}

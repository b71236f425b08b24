// Reads secrets from a file with one secret per line at each use, because the file may change while the program runs.

import { readFile, stat } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

/**
 * Throws Failure `secret-file-unreadable` if the file is not UTF-8, or contains no secret: an empty secret must give no
 * access. Throws `secret-file-open` if every user of the machine may write to the file.
 */
export async function readSecretFile(path: string): Promise<readonly string[]> {
  const lines = (await readTrusted(path)).split('\n').map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '');
  if (secrets.length === 0) throw new Failure('secret-file-unreadable', `secret file ${path} is empty`);
  return secrets;
}

async function readTrusted(path: string): Promise<string> {
  try {
    const { mode } = await stat(path);
    // Reading is not checked: Kubernetes makes mounted Secrets readable for all users by default (docs/decisions/0211).
    if (process.platform !== 'win32' && (mode & 0o002) !== 0) {
      const message = `secret file ${path} can be written by any user of this machine: remove that right (chmod o-w)`;
      throw new Failure('secret-file-open', message);
    }
    return textOfFile(await readFile(path), `secret file ${path}`, 'secret-file-unreadable');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `secret file ${path} cannot be read`, { cause });
  }
}

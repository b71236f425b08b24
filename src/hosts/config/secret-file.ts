// Reads the secrets of a mounted file, one a line, at each use, because such files change while the program runs.

import { readFile, stat } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

/**
 * Throws Failure `secret-file-unreadable`, also if all lines are empty (an empty secret must not let anyone in) or the
 * file is not UTF-8. Throws `secret-file-open` if any user of the machine may write a secret into it.
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
    // Kubernetes mounts a Secret readable for all users unless a mode is set (docs/decisions/0211).
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

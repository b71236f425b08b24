// Secrets that a mounted file holds, one a line: read at each use, because such files change under a running program.

import { readFile, stat } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';

/**
 * Throws Failure `secret-file-unreadable`, also where no line holds anything: no one may get in by an empty secret; and
 * `secret-file-open` where any user of the machine may put in a secret of their own.
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
    // Readable by others is how Kubernetes mounts a Secret unless set otherwise (docs/decisions/0211).
    if (process.platform !== 'win32' && (mode & 0o002) !== 0) {
      const message = `secret file ${path} can be written by any user of this machine: take that right away (chmod o-w)`;
      throw new Failure('secret-file-open', message);
    }
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `secret file ${path} cannot be read`, { cause });
  }
}

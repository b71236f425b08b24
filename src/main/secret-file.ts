// Secrets that a mounted file holds, one a line: read at each use, because such files change under a running program.

import { readFile } from 'node:fs/promises';
import { Failure } from '../std/failure.ts';

/** Throws Failure `secret-file-unreadable`, also where no line holds anything: nobody may get in by an empty secret. */
export async function secretsFrom(path: string): Promise<readonly string[]> {
  const lines = (await contentOf(path)).split('\n').map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '');
  if (secrets.length === 0) throw new Failure('secret-file-unreadable', `secret file ${path} is empty`);
  return secrets;
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('secret-file-unreadable', `secret file ${path} cannot be read`, { cause });
  }
}

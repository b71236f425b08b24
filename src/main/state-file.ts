// Writes a file of the state folder whole or not at all.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../std/failure.ts';

/** Throws Failure `state-not-saved`. */
export async function writeState(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (cause) {
    throw new Failure('state-not-saved', `${path} cannot be written: ${systemReason(cause)}`, { cause });
  }
}

function systemReason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

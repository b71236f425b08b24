// Writes a file of the state folder completely or not at all. The file is readable only for its user.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { Failure } from '#std/failure.ts';

/** Throws Failure `state-not-saved`. */
export async function writeState(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writePrivately(path, text);
  } catch (cause) {
    throw new Failure('state-not-saved', `${path} cannot be written: ${systemReason(cause)}`, { cause });
  }
}

function systemReason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

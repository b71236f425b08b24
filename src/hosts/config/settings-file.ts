// A file of settings as text. Knows nothing about what settings there are.

import { readFileSync } from 'node:fs';
import { Failure } from '#std/failure.ts';

/** Undefined where there is no such file. Throws Failure `usage` where it cannot be read: a folder, or another's. */
export function settingsText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string') throw cause;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure('usage', `${file}: ${code === 'EISDIR' ? 'a folder, not a file' : code}`, { cause });
  }
}

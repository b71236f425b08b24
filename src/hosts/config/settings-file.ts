// Reads a file of settings as text.

import { readFileSync } from 'node:fs';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import { decodeFile, encodingProblem } from '#std/utf8.ts';

/**
 * Returns undefined if the file does not exist. Throws Failure `usage` if the file cannot be read, and `config-invalid`
 * if the file is not UTF-8.
 */
export function settingsText(file: string): string | undefined {
  const bytes = settingsBytes(file);
  if (bytes === undefined) return undefined;
  const decoded = decodeFile(bytes);
  if ('text' in decoded) return decoded.text;
  throw new Failure('config-invalid', formatProblem(encodingProblem(file, decoded.fault)));
}

function settingsBytes(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string') throw cause;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure('usage', `${file}: ${code === 'EISDIR' ? 'a folder, not a file' : code}`, { cause });
  }
}

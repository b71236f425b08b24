// Reads a registry file from a local or mounted path.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Content } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Throws Failure `source-not-found`, `source-too-large` or `source-not-text`. */
export async function readFileSource(path: string, maxBytes = MAX_BYTES): Promise<Content> {
  const bytes = await readRegular(path, maxBytes).catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    throw new Failure('source-not-found', `${path} cannot be read: ${explainReadError(cause)}`, {
      data: { path },
      cause,
    });
  });
  return { documents: [{ text: textOfFile(bytes, path, 'source-not-text'), location: path }], extent: 'whole' };
}

/** Opens without blocking, so that a named pipe without a writer does not block the sync. */
async function readRegular(path: string, maxBytes: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Failure('source-not-found', `${path} is not a regular file`, { data: { path } });
    // Reads one byte more than allowed, to detect a file that is too large even if it grows during the read.
    const bytes = Buffer.alloc(Math.min(stat.size, maxBytes) + 1);
    const length = await readFully(file, bytes);
    if (length > maxBytes) {
      throw new Failure('source-too-large', `${path} is larger than ${maxBytes} bytes`, { data: { path, maxBytes } });
    }
    if (length > stat.size) {
      throw new Failure('source-not-found', `${path} is being written`, { data: { path }, retryable: true });
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}

async function readFully(file: Awaited<ReturnType<typeof open>>, bytes: Uint8Array): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function explainReadError(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return String(error);
  return error.code === 'ENOENT' ? 'there is no such file' : String(error.code);
}

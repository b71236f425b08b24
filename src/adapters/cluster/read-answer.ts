// Decompresses and decodes responses up to a maximum length.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Received } from './exchange.ts';
import type { ClusterResponse } from './refusals.ts';

const unzipped = promisify(gunzip);
/** From this size on, Node.js does not use shared buffers. */
const LARGE_BYTES = 65_536;

/** `maxBytes`: maximum length after decompression. */
export async function readAnswer(received: Received, maxBytes: number | undefined): Promise<ClusterResponse> {
  const { status, headers } = received;
  const plain = await readPlain(received, maxBytes);
  if (plain === undefined) return { status, headers, text: '', exceeds: true };
  return { status, headers, text: decodeText(plain) };
}

/** Returns the decompressed bytes. undefined if they exceed `maxBytes`. */
async function readPlain({ headers, bytes }: Received, maxBytes: number | undefined): Promise<Uint8Array | undefined> {
  if (bytes === undefined || headers['content-encoding'] !== 'gzip') return bytes;
  try {
    // Usually large enough to decompress in one piece: lists of objects compress to about a twentieth.
    const chunkSize = Math.max(16_384, Math.min(bytes.length * 24, maxBytes ?? Infinity));
    return await unzipped(bytes, { chunkSize, maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Decodes the bytes and frees their memory at once. Otherwise large pages of lists would stay in memory until the next
 * full garbage collection.
 */
function decodeText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (bytes.byteLength > LARGE_BYTES && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
  return text;
}

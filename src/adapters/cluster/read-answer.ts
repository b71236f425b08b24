// Reads the body of an answer, unpacked, as long as it may be. Knows nothing about what is in it.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Answer } from './refusals.ts';

const unzipped = promisify(gunzip);
/** Far more than what shares a buffer with others. */
const LARGE_BYTES = 65_536;

export async function readAnswer(response: Dispatcher.ResponseData, maxBytes: number | undefined): Promise<Answer> {
  const { statusCode: status, headers } = response;
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  const flat = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  const plain = await readPlain(response, maxBytes);
  if (plain === undefined) return { status, headers: flat, text: '', exceeds: true };
  return { status, headers: flat, text: decodeText(plain) };
}

/** Undefined where it is longer than that. */
async function readPlain(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number | undefined,
): Promise<Uint8Array | undefined> {
  const bytes = maxBytes === undefined ? await body.bytes() : await readUpTo(body, maxBytes);
  if (bytes === undefined || headers['content-encoding'] !== 'gzip') return bytes;
  try {
    // In one piece, mostly: lists of objects shrink to a twentieth.
    const chunkSize = Math.max(16_384, Math.min(bytes.length * 24, maxBytes ?? Infinity));
    return await unzipped(bytes, { chunkSize, maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

async function readUpTo(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Pages of lists are large, come fast, and would stay until the next collection of everything: their bytes go at once. */
function decodeText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (bytes.byteLength > LARGE_BYTES && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
  return text;
}

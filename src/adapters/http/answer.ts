// Reads the response to an outbound request: the body up to a limit, and the headers as strings.

import type { Dispatcher } from 'undici';
import { Failure } from '#std/failure.ts';

/** Reads the body. Throws Failure `outbound-too-large` as soon as the body exceeds `maxBytes`. */
export async function readBody(
  { body, headers }: Dispatcher.ResponseData,
  maxBytes: number,
  arrived: (bytes: number) => Promise<void> | undefined,
): Promise<Uint8Array> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    body.destroy();
    throw bodyTooLarge(maxBytes);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
    await arrived(size);
  }
  return Buffer.concat(chunks);
}

/** Discards the body of a response of which only the status is needed. */
export function leaveUnread({ body }: Dispatcher.ResponseData): Uint8Array {
  body.destroy();
  return new Uint8Array();
}

function bodyTooLarge(maxBytes: number): Failure {
  return new Failure('outbound-too-large', `the answer is larger than ${maxBytes} bytes`, { data: { maxBytes } });
}

/** Joins the values of repeated headers with `, `. undici returns names in lower case. */
export function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

// Reads the body of an HTTP request up to a size limit.

import type { IncomingMessage } from 'node:http';
import { requestTooLarge } from '../api/status.ts';

/** Limit of a real API server for resource requests. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;

export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > BODY_LIMIT_BYTES) throw requestTooLarge(BODY_LIMIT_BYTES);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

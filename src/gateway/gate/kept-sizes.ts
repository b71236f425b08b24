// Limits the size of messages whose data stays in memory after the answer, or as long as a client listens.

import type { Message, RequestMessage } from '../wire/message.ts';
import type { Era } from '../wire/revisions.ts';

/** Sessions store parts of `initialize`. A process has thousands of sessions, and real clients send less than 4 KiB. */
const INITIALIZE_BYTES_MAX = 16 * 1024;
/**
 * The bridge stores client info and capabilities of stateless clients with its sessions at the server. Both are as
 * large as in `initialize`.
 */
const CLIENT_BYTES_MAX = INITIALIZE_BYTES_MAX;
/** A subscription is stored as long as the client listens. The 100 allowed URIs usually take about 10 KiB. */
const LISTEN_BYTES_MAX = 64 * 1024;

/** Returns a sentence for the client if the message is too large. undefined if the message may pass. */
export function keptSizeFault(message: Message | undefined, body: Buffer | undefined, era: Era): string | undefined {
  if (message?.kind !== 'request' || body === undefined) return undefined;
  const { method } = message;
  if (method === 'initialize' && body.length > INITIALIZE_BYTES_MAX) {
    return 'The message initialize is larger than 16 KiB. Declare fewer or smaller capabilities.';
  }
  if (method === 'subscriptions/listen' && body.length > LISTEN_BYTES_MAX) {
    return 'The message subscriptions/listen is larger than 64 KiB. Subscribe to fewer resources at once.';
  }
  if (era === 'stateless' && clientBytes(message) > CLIENT_BYTES_MAX) {
    return 'clientInfo and clientCapabilities in _meta are larger than 16 KiB. Declare fewer or smaller capabilities.';
  }
  return undefined;
}

function clientBytes({ meta }: RequestMessage): number {
  const spans = [meta?.clientInfo, meta?.clientCapabilities];
  return spans.reduce((sum, span) => sum + (span === undefined ? 0 : span.end - span.start), 0);
}

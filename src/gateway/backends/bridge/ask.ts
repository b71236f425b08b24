// Sends a bridge's own requests: one message out, one response back, within a time limit.

import type { Message, ResponseMessage } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Backend, BackendFault, Era, Exchange, Flow } from '../backend.ts';
import type { BackendClock } from '../ports.ts';
import { type Headers, readAnswer } from './reading.ts';

export interface Asking {
  readonly backend: Backend;
  readonly clock: BackendClock;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface Answered {
  readonly ok: true;
  readonly status: number;
  readonly headers: Headers;
  /** Absent if the server sent no response, for example after a notification. */
  readonly response?: { readonly bytes: Buffer; readonly message: ResponseMessage };
}

export type Asked = Answered | { readonly ok: false; readonly fault: BackendFault };

/** Parts of the client's request that are copied into a request of the bridge. */
export type Cause = Pick<Exchange, 'headers' | 'path' | 'caller' | 'authorize'>;

/**
 * Returns the headers of the client's request plus `own`. Omits headers that describe the message of the client's
 * request.
 */
export function headersFor({ headers }: Cause, own: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!OF_THE_MESSAGE.has(name) && !name.startsWith('mcp-param-')) kept[name] = value;
  }
  return Object.assign(kept, own);
}

const OF_THE_MESSAGE: ReadonlySet<string> = new Set([
  'accept',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
]);

const POST_HEADERS: Readonly<Record<string, string>> = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};

/** Returns a POST of `body` with the credentials of `cause`. */
export function postExchange(
  cause: Cause,
  era: Era,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  session?: string,
): Exchange {
  const { path, caller, authorize } = cause;
  const sent = headersFor(cause, { ...POST_HEADERS, ...headers });
  return { method: 'POST', era, path, headers: sent, body, message: messageIn(body), session, caller, authorize };
}

function messageIn(body: Buffer): Message | undefined {
  const scanned = scanMessage(body);
  return scanned.ok ? scanned.message : undefined;
}

/**
 * Sends the exchange and resolves with the server's response. Resolves with only the status and headers if the answer
 * contains no response. Never rejects.
 */
export function ask({ backend, clock, timeoutMs, maxBytes }: Asking, exchange: Exchange): Promise<Asked> {
  return new Promise((resolve) => {
    let flow: Flow | undefined;
    let aborted = false;
    let head: Pick<Answered, 'status' | 'headers'> = { status: 0, headers: {} };
    let settled = false;

    function settle(asked: Asked): void {
      if (settled) return;
      settled = true;
      stopTimer();
      resolve(asked);
    }

    function giveUp(fault: BackendFault): void {
      settle({ ok: false, fault });
      aborted = true;
      flow?.abort();
    }

    const stopTimer = clock.after(timeoutMs, () => giveUp(TIMED_OUT));
    const answer = readAnswer(
      {
        head(status, headers) {
          head = { status, headers };
        },
        message(bytes, message) {
          if (message.kind === 'response') settle({ ok: true, ...head, response: { bytes, message } });
        },
        part: () => true,
        end: () => settle({ ok: true, ...head }),
        fail: giveUp,
      },
      maxBytes,
    );
    flow = backend.open(exchange, answer);
    if (aborted) flow.abort();
  });
}

const TIMED_OUT: BackendFault = { reason: 'timeout', message: 'the MCP server did not answer in time' };

// Sends messages of a client to an HTTP+SSE server, as POSTs to the endpoint that the server named.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { BackendFault, Exchange } from '../backend.ts';
import type { UpstreamFault } from '../ports.ts';
import { authorize, breakLine, type Line, leavingRequest } from './line.ts';

/**
 * Sends a message. Messages are sent in parallel, but messages after `notifications/initialized` wait until the server
 * has answered the POST of that notification.
 */
export function sendInOrder(line: Line, message: Buffer, exchange: Exchange): void {
  const scanned = scanMessage(message);
  const method = scanned.ok && scanned.message.kind === 'notification' ? scanned.message.method : undefined;
  if (method === 'notifications/initialized') {
    line.greeted = new Promise((resolve) => sendMessage(line, message, exchange, resolve));
  } else if (line.greeted === undefined) sendMessage(line, message, exchange, () => undefined);
  else line.greeted.then(() => sendMessage(line, message, exchange, () => undefined));
}

/** Sends a message. Calls `taken` when the server has answered the POST or the POST has failed. */
function sendMessage(line: Line, message: Buffer, exchange: Exchange, taken: () => void): void {
  const { endpoint, options, ports } = line;
  if (line.closed || endpoint === undefined) {
    taken();
    return;
  }
  authorize(line, exchange, leavingRequest(options, exchange, 'POST', endpoint, message), (authorized) => {
    if (!authorized.ok) {
      failRequest(line, message, authorized.fault);
      return taken();
    }
    const { firstByteMs, idleMs } = options;
    const request = {
      method: 'POST',
      url: endpoint,
      headers: authorized.headers,
      body: message,
      stream: false,
    } as const;
    ports.upstream.request(
      { ...request, firstByteMs, idleMs },
      {
        head(status) {
          if (status >= 300) failRequest(line, message, faultOfStatus(status));
          // The server no longer has the session. The client then starts a new session.
          if (status === 404 || status === 410) breakLine(line, 'sse-closed', `a message was answered with ${status}`);
          taken();
        },
        // The response comes on the stream. The body of the POST's answer is ignored.
        data: () => true,
        end: () => undefined,
        failed(fault) {
          failRequest(line, message, faultOf(fault));
          taken();
        },
      },
    );
  });
}

function faultOfStatus(status: number): BackendFault {
  return { reason: 'answer-invalid', message: `the MCP server refused the message with status ${status}` };
}

function faultOf({ reason, detail }: UpstreamFault): BackendFault {
  const message =
    reason === 'timeout' ? 'the MCP server did not accept the message in time' : 'the MCP server cannot be reached';
  return { reason: 'unreachable', message, detail };
}

/** Answers a request that the server did not accept with an error, since no response will arrive on the stream. */
function failRequest({ closed, handlers }: Line, message: Buffer, { message: text }: BackendFault): void {
  const scanned = closed ? undefined : scanMessage(message);
  if (scanned?.ok !== true || scanned.message.kind !== 'request') return;
  const { id } = scanned.message;
  handlers.message(errorBody(id, ERRORS.internalError, text), { kind: 'response', id: id.json });
}

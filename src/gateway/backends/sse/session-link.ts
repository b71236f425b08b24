// Opens the line of one session to an HTTP+SSE server (MCP 2024-11-05, Transports). The client's messages are sent as
// POSTs, and the server's messages arrive as events of one stream.

import { Failure } from '#std/failure.ts';
import { isEventStream } from '../../wire/headers.ts';
import { createEventSplitter, type SseEvent } from '../../wire/sse.ts';
import type { BackendFault, Exchange } from '../backend.ts';
import type { UpstreamFlow, UpstreamRequest } from '../ports.ts';
import { createUtf8Repair } from '../repair-utf8.ts';
import type { SessionHandlers, SessionLink } from '../sessions/link.ts';
import { endpointUrl } from './endpoint.ts';
import { authorize, breakLine, type Line, leavingRequest } from './line.ts';
import type { SseOptions, SsePorts } from './ports.ts';
import { sendInOrder } from './send.ts';

const ENDPOINT_MS = 10_000;

/** Opens the event stream. The promise resolves when the server has named its endpoint. */
export function openSseLink(
  options: SseOptions,
  ports: SsePorts,
  exchange: Exchange,
  handlers: SessionHandlers,
): Promise<SessionLink> {
  return new Promise((resolve, reject) => {
    const line: Line = {
      options,
      ports,
      handlers,
      latest: exchange,
      paused: false,
      closed: false,
      repair: createUtf8Repair(ports.observer),
      opening: { resolve, reject },
    };
    authorize(line, exchange, leavingRequest(options, exchange, 'GET', options.url), (authorized) => {
      if (!authorized.ok) return refuseLine(line, 'sse-unauthorized', authorized.fault.message, authorized.fault);
      line.stream = openStream(line, authorized.headers);
      if (line.closed) line.stream.abort();
    });
  });
}

function openStream(line: Line, headers: Readonly<Record<string, string>>): UpstreamFlow {
  const { options, ports } = line;
  const { url, firstByteMs, messageBytes } = options;
  const splitter = createEventSplitter(
    { maxEventBytes: messageBytes },
    {
      event: (event) => takeEvent(line, event),
      fault: () => breakLine(line, 'sse-closed', 'an event of the server is too large'),
    },
  );
  const request: UpstreamRequest = { method: 'GET', url, headers, stream: true, firstByteMs, idleMs: 0 };
  return ports.upstream.request(request, {
    head(status, answered) {
      if (status === 200 && isEventStream(answered['content-type'])) {
        const silent = () => breakLine(line, 'sse-silent', 'the server did not name an endpoint for messages');
        line.stopTimer = ports.clock.after(ENDPOINT_MS, silent);
        return;
      }
      breakLine(line, 'sse-refused', `GET was answered with status ${status} and no event stream`);
    },
    data(chunk) {
      if (!line.closed) splitter.push(chunk);
      return !line.paused;
    },
    end: () => breakLine(line, 'sse-closed', 'the server ended its event stream'),
    failed: ({ detail, reason }) => breakLine(line, 'sse-unreachable', detail, { reason }),
  });
}

function takeEvent(line: Line, { type, data }: SseEvent): void {
  if (line.closed || data.length === 0) return;
  if (type === 'endpoint') takeEndpoint(line, data.toString());
  else if (type === undefined || type === 'message') line.handlers.message(line.repair(data));
}

/** Uses only the first endpoint, so that all messages of one session go to the same URL. */
function takeEndpoint(line: Line, data: string): void {
  const { opening, options } = line;
  if (opening === undefined) return;
  const endpoint = endpointUrl(options.url, data);
  if (endpoint === undefined) {
    breakLine(line, 'sse-endpoint', 'the server names an endpoint of another origin');
    return;
  }
  line.stopTimer?.();
  line.endpoint = endpoint;
  line.opening = undefined;
  opening.resolve(linkOf(line));
}

function linkOf(line: Line): SessionLink {
  return {
    send(message, exchange) {
      if (exchange !== undefined) line.latest = exchange;
      if (!line.closed) sendInOrder(line, message, exchange ?? line.latest);
      return true;
    },
    pause() {
      line.paused = true;
    },
    resume() {
      line.paused = false;
      line.stream?.resume();
    },
    async close() {
      line.closed = true;
      line.stopTimer?.();
      line.stream?.abort();
    },
  };
}

function refuseLine(line: Line, code: string, detail: string, { reason, retryAfterSeconds }: BackendFault): void {
  line.closed = true;
  line.opening?.reject(new Failure(code, detail, { data: { reason, retryAfterSeconds } }));
}

// Serves HTTP+SSE (MCP 2024-11-05) in front of any backend. Clients post messages, and read the answers from one event
// stream each.

import type { Answer, Backend, Exchange, Flow } from '../../backends/backend.ts';
import { type ClientStream, messageEvent, writeToStream } from './client-stream.ts';

export interface SseSession {
  readonly id: string;
  readonly caller: string;
  /** Sends a message to the backend, and writes its answers to the stream. `change` wraps the writer of the answers. */
  post(exchange: Exchange, change: (answer: Answer) => Answer): void;
  /** Writes a message of the proxy to the stream. */
  write(message: Buffer): void;
  writeEvents(events: Buffer): void;
  /** Opens an exchange in the session for the proxy itself. The client does not get the answer. */
  ask(exchange: Exchange, answer: Answer): Pick<Flow, 'abort'>;
  /** Resumes the backend's flows, because the client reads again. */
  resume(): void;
  /** Ends the session at proxy and backend, because the client has disconnected or the proxy stops. */
  close(): void;
  /** Calls `done` once all posted messages are answered. */
  finish(done: () => void): void;
}

export interface SseFront {
  /** Opens a session. The caller of this function writes the `endpoint` event, since only the caller knows the URL. */
  open(id: string, caller: string, stream: ClientStream): SseSession;
  /** Returns the session. Returns undefined if the session does not exist or belongs to another caller. */
  find(id: string, caller: string): SseSession | undefined;
  close(reason: string): void;
}

interface Options {
  readonly backend: Backend;
  /** Maximum size of a server message. A larger response is replaced by an error response. */
  readonly messageBytes: number;
  /** Headers of the proxy's own requests. These requests read server messages and end the session. */
  readonly ownHeaders: Readonly<Record<string, string>>;
}

export function createSseFront(options: Options): SseFront {
  const sessions = new Map<string, { readonly session: SseSession; readonly stream: ClientStream }>();
  return {
    open(id, caller, stream) {
      const session = createSession(options, id, caller, stream, () => sessions.delete(id));
      sessions.set(id, { session, stream });
      return session;
    },
    find(id, caller) {
      const found = sessions.get(id);
      return found?.session.caller === caller ? found.session : undefined;
    },
    close(reason) {
      for (const { session, stream } of sessions.values()) {
        session.close();
        stream.end(reason);
      }
    },
  };
}

function createSession(
  { backend, messageBytes, ownHeaders }: Options,
  id: string,
  caller: string,
  stream: ClientStream,
  forget: () => void,
): SseSession {
  const flows = createFlows(backend);
  /** Backend's session id. undefined until `initialize` is answered. */
  let backendSession: string | undefined;
  let template: Exchange | undefined;
  let closed = false;

  /** Opens the backend's stream of messages that the server sends without a request. */
  function listen(): void {
    if (template === undefined || closed) return;
    const headers = { ...template.headers, ...ownHeaders };
    const exchange: Exchange = { ...template, method: 'GET', headers, body: undefined, message: undefined };
    flows.start(
      { ...exchange, session: backendSession },
      stream.change(writeToStream(stream, messageBytes, undefined)),
    );
  }

  return {
    id,
    caller,
    post(exchange, change) {
      const { message } = exchange;
      const requestId = message?.kind === 'request' ? message.id : undefined;
      const initializes = message?.kind === 'request' && message.method === 'initialize';
      const sink = change(writeToStream(stream, messageBytes, requestId));
      if (!initializes) {
        flows.start({ ...exchange, session: backendSession }, sink);
        return;
      }
      template = exchange;
      flows.start(
        exchange,
        learningSession(sink, (given) => {
          backendSession = given;
          listen();
        }),
      );
    },
    write: (message) => void stream.write(messageEvent(message)),
    writeEvents: (events) => void stream.write(events),
    ask: (exchange, answer) => flows.start({ ...exchange, session: backendSession }, answer),
    resume: flows.resume,
    finish: flows.finish,
    close() {
      if (closed) return;
      closed = true;
      forget();
      flows.abort();
      if (template === undefined || backendSession === undefined) return;
      const end: Exchange = { ...template, method: 'DELETE', body: undefined, message: undefined };
      backend.open({ ...end, headers: { ...template.headers, ...ownHeaders }, session: backendSession }, DEAF);
    },
  };
}

/** Tracks the open exchanges of one session. */
function createFlows(backend: Backend) {
  const flows = new Set<Flow>();
  let finishing: (() => void) | undefined;
  let waiting = 0;
  return {
    start(exchange: Exchange, answer: Answer): Pick<Flow, 'abort'> {
      let flow: Flow | undefined;
      let over = false;
      const counted = exchange.method === 'POST' ? 1 : 0;
      waiting += counted;
      const done = () => {
        if (over) return;
        over = true;
        if (flow !== undefined) flows.delete(flow);
        waiting -= counted;
        if (waiting === 0) finishing?.();
      };
      const opened = backend.open(exchange, endingWith(answer, done));
      flow = opened;
      if (!over) flows.add(opened);
      return {
        abort() {
          opened.abort();
          // The backend does not report the end of an aborted exchange.
          done();
        },
      };
    },
    resume() {
      for (const flow of flows) flow.resume();
    },
    /** Calls `done` once all posted messages are answered. */
    finish(done: () => void) {
      finishing = done;
      if (waiting === 0) done();
    },
    abort() {
      for (const flow of flows) flow.abort();
      flows.clear();
    },
  };
}

const DEAF: Answer = { head: () => undefined, data: () => true, end: () => undefined, fail: () => undefined };

function endingWith(answer: Answer, done: () => void): Answer {
  return {
    head: answer.head,
    data: answer.data,
    end() {
      answer.end();
      done();
    },
    fail(fault) {
      answer.fail(fault);
      done();
    },
  };
}

/** Passes the session id in the answer to `initialize` to `learn` when the answer has ended. */
function learningSession(answer: Answer, learn: (session: string | undefined) => void): Answer {
  let session: string | undefined;
  return {
    head(status, headers) {
      const given = headers['mcp-session-id'];
      session = typeof given === 'string' ? given : undefined;
      answer.head(status, headers);
    },
    data: answer.data,
    end() {
      answer.end();
      learn(session);
    },
    fail: answer.fail,
  };
}

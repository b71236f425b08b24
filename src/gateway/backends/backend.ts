// One MCP server as a caller meets it: a streamable HTTP endpoint, whatever it is behind (HTTP, SSE, stdio, another era of
// the protocol).

import type { JsonObject } from '#std/json.ts';
import type { Message } from '../wire/message.ts';

/** Until 2025-11-25 there are sessions; since 2026-07-28 each request stands for itself. */
export type Era = 'session' | 'stateless';

/** One HTTP request of a client that has passed the gate. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly era: Era;
  /** Path and query that the client asked for; a backend whose URL says both does not look at it. */
  readonly path: string;
  /** What goes on, names in lower case: nothing of the hop, no credentials of the caller but what the other side shall get. */
  readonly headers: Readonly<Record<string, string>>;
  /** For POST: the client's own bytes, and what their scan says of them. */
  readonly body?: Buffer;
  readonly message?: Message;
  /** The backend's own id of the session, opened from the client's; absent without a session and for `initialize`. */
  readonly session?: string;
  /** Who calls: issuer, subject and client as one text; equal for equal callers, and never shown to anybody. */
  readonly caller: string;
  /** What a verified token says of the caller, for whoever decides about more than one server behind it. */
  readonly identity?: CallerIdentity;
  /** A call of a client that can go on with a task; a virtual server keeps the extensions of all other requests from members. */
  readonly carriesTasks?: true;
  /** Absent: the headers are all there is. Transports call it last, for every request that they send for this exchange. */
  readonly authorize?: Authorize;
}

interface CallerIdentity {
  /** The caller's own token; absent where callers are not authenticated. */
  readonly token?: string;
  readonly claims: JsonObject;
  /** `exp` of the token, seconds since 1970. */
  readonly expiry?: number;
  /** Claims of the token that policies read, if it is not the caller's own. */
  readonly upstream?: UpstreamClaims;
}

/** Claims of the caller's token at an upstream provider. */
export interface UpstreamClaims {
  readonly provider: string;
  readonly claims: JsonObject;
}

/** A request as it would leave, with its final URL, headers and bytes. */
export interface LeavingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export type Authorized =
  /** The headers that it leaves with, in place of its own. */
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly fault: BackendFault };

/** Gives a request its rights at the other side. A value where nothing has to be waited for. */
type Authorize = (request: LeavingRequest) => Authorized | Promise<Authorized>;

/** Where the answer to one exchange goes. `head` comes first, then data, then `end` or `fail`; after these nothing. */
export interface Answer {
  /** Names in lower case. `mcp-session-id` is the backend's own id; the proxy seals it. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** False: wait for `resume` of the flow before more is sent. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Before `head` it becomes a JSON-RPC error over HTTP, after it the stream ends in an error. */
  fail(fault: BackendFault): void;
}

/** An exchange under way, for the client that waits. */
export interface Flow {
  /** The client is gone: the other side learns it in the way of its transport. Calling it after the end does nothing. */
  abort(): void;
  /** The client can take more, after `data` was answered with false. */
  resume(): void;
}

/** Why the other side gave no answer. Words for the client, without addresses of the inside. */
export interface BackendFault {
  readonly reason:
    | 'unreachable'
    | 'timeout'
    | 'closed'
    | 'busy'
    | 'session-unknown'
    | 'answer-invalid'
    | 'answer-too-large'
    | 'not-supported'
    /** The caller cannot be given rights at the other side: no token to exchange, or one that is refused there. */
    | 'unauthorized'
    /** The caller may not act there. */
    | 'forbidden';
  readonly message: string;
  /** For `busy` and `unreachable`: seconds after which it is worth trying again. */
  readonly retryAfterSeconds?: number;
  /** For the log of the operator only. */
  readonly detail?: string;
}

export interface Backend {
  /** Never throws because of the other side: what fails goes to `answer.fail`. */
  open(exchange: Exchange, answer: Answer): Flow;
  /** Which eras it answers itself; a bridge stands before it for the others. Unknown before its first answer. */
  eras(): ReadonlySet<Era> | undefined;
  /** Asks the server whether it is there and what it speaks. */
  probe(): Promise<Probe>;
  /** No new exchanges; streams end, what is under way is finished within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface Probe {
  readonly available: boolean;
  readonly responseTimeMs?: number;
  /** Words for the operator. */
  readonly error?: string;
}

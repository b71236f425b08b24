// Defines one MCP server in the form in which callers use it: as a streamable HTTP endpoint, even if the server speaks
// HTTP+SSE, stdio or another era of the protocol.

import type { JsonObject } from '#std/json.ts';
import type { Message } from '../wire/message.ts';

/** MCP revisions until 2025-11-25 have sessions. Since MCP 2026-07-28 each request is independent. */
export type Era = 'session' | 'stateless';

/** HTTP request of a client that has passed the gate. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly era: Era;
  /** Path and query of the client's request; ignored by a backend whose URL has both. */
  readonly path: string;
  /**
   * Headers for the server, with names in lower case. They contain no hop-by-hop headers, and only the caller's
   * credentials that the server should get.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Set for POST: the client's unchanged bytes and their scanned message. */
  readonly body?: Buffer;
  readonly message?: Message;
  /**
   * The backend's own session id, read from the client's sealed session id. Absent without a session and for
   * `initialize`.
   */
  readonly session?: string;
  /** Caller as one text (issuer, subject and client): equal for equal callers, never logged or sent. */
  readonly caller: string;
  /** The caller, described by a verified token, for decisions about more than one server. */
  readonly identity?: CallerIdentity;
  /**
   * Set for a call of a client that supports tasks; a virtual server keeps the extensions of all other requests from
   * members.
   */
  readonly carriesTasks?: true;
  /**
   * Adds the final credentials. Transports call it last, for every request that they send for this exchange. If absent,
   * the headers are complete.
   */
  readonly authorize?: Authorize;
}

interface CallerIdentity {
  /** The caller's own token; absent if callers are not authenticated. */
  readonly token?: string;
  readonly claims: JsonObject;
  /** `exp` of the token, seconds since 1970. */
  readonly expiry?: number;
  /** Claims that policies read, if they come from another token than the caller's own. */
  readonly upstream?: UpstreamClaims;
}

/** Claims of the caller's token at an upstream provider. */
export interface UpstreamClaims {
  readonly provider: string;
  readonly claims: JsonObject;
}

/** Request ready to be sent, with its final URL, headers and bytes. */
export interface LeavingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export type Authorized =
  /** Headers that replace the request's own. */
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly fault: BackendFault };

/** Adds credentials for the server to a request. Returns a plain value if it need not wait. */
type Authorize = (request: LeavingRequest) => Authorized | Promise<Authorized>;

/** Receiver of the answer to one exchange. `head` is called first, then `data`, then `end` or `fail` once. */
export interface Answer {
  /** Names of headers are in lower case. `mcp-session-id` is the backend's own id; the proxy seals it. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** Returns false if the sender must wait for `resume` of the flow. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Before `head` the fault becomes a JSON-RPC error over HTTP, after it the stream ends in an error. */
  fail(fault: BackendFault): void;
}

/** An exchange in progress, controlled by the client that waits for its answer. */
export interface Flow {
  /**
   * Ends the exchange because the client has gone. The server is informed in the way of its transport. Has no effect
   * after the end.
   */
  abort(): void;
  /** Continues the answer when the client can accept more, after `data` returned false. */
  resume(): void;
}

/** Reason why the server did not answer, in words for the client, without internal addresses. */
export interface BackendFault {
  readonly reason:
    | 'unreachable'
    | 'timeout'
    | 'closed'
    | 'busy'
    /** The server was asleep, and did not start in time. */
    | 'not-started'
    | 'session-unknown'
    | 'answer-invalid'
    | 'answer-too-large'
    | 'not-supported'
    /**
     * The caller has no credentials for the server: it has no token to exchange, or the token endpoint refuses the
     * token.
     */
    | 'unauthorized'
    /** The caller is not allowed to send this request to the server. */
    | 'forbidden';
  readonly message: string;
  /** Seconds after which a retry makes sense. Set for `busy`, `not-started` and `unreachable`. */
  readonly retryAfterSeconds?: number;
  /** Detail for the log of the operator only. */
  readonly detail?: string;
}

export interface Backend {
  /** Starts the exchange. Never throws because of the server: failures are passed to `answer.fail`. */
  open(exchange: Exchange, answer: Answer): Flow;
  /**
   * Returns the eras that the server itself speaks. A bridge serves the other era. Undefined before the first answer.
   */
  eras(): ReadonlySet<Era> | undefined;
  /** Checks whether the server is available and which eras it speaks. */
  probe(): Promise<Probe>;
  /** Accepts no new exchanges and ends streams; requests in flight may finish within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface Probe {
  readonly available: boolean;
  /** True if the server is available because the next call starts it. */
  readonly isAsleep?: boolean;
  readonly responseTimeMs?: number;
  /** Message for the operator. */
  readonly error?: string;
}

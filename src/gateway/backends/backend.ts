// Defines the interface to one MCP server, which callers use as a streamable HTTP endpoint. The server itself may use
// another transport (HTTP+SSE or stdio), or another era of the protocol than the caller.

import type { JsonObject } from '#std/json.ts';
import type { Message } from '../wire/message.ts';

/** MCP revisions until 2025-11-25 have sessions. Since MCP 2026-07-28 each request is independent. */
export type Era = 'session' | 'stateless';

/** HTTP request of a client that has passed the gate. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly era: Era;
  /** Path and query of the client's request. HTTP backends append the query to their URL, and ignore the path. */
  readonly path: string;
  /**
   * Headers for the server, with names in lower case, without hop-by-hop headers. Of the caller's credentials, only the
   * credentials that are meant for the server are included.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Unchanged bytes of the client's POST. `message` is the scan of these bytes. Absent for other methods. */
  readonly body?: Buffer;
  readonly message?: Message;
  /**
   * The backend's own session id, read from the client's sealed session id. Absent for `initialize` and for requests
   * without a session.
   */
  readonly session?: string;
  /** Issuer, subject and client of the caller as one text. Equal callers have equal texts. Never logged or sent. */
  readonly caller: string;
  /** Identity of the caller from a verified token, for components that serve several servers. */
  readonly identity?: CallerIdentity;
  /**
   * Set for a call of a client that supports tasks. A virtual server removes extensions from all other requests to its
   * members.
   */
  readonly carriesTasks?: true;
  /**
   * Adds the final credentials to a request. Each transport calls `authorize` as the last step before it sends a
   * request. If absent, the headers already contain the credentials.
   */
  readonly authorize?: Authorize;
}

interface CallerIdentity {
  /** The caller's own token. Absent if callers are not authenticated. */
  readonly token?: string;
  readonly claims: JsonObject;
  /** `exp` of the token, in seconds since 1970. */
  readonly expiry?: number;
  /** Claims for policies, if policies read claims of another token than the caller's own token. */
  readonly upstream?: UpstreamClaims;
}

/** Claims of the caller's token at an upstream provider. */
export interface UpstreamClaims {
  readonly provider: string;
  readonly claims: JsonObject;
}

/** Outgoing request with its final URL, headers and bytes. */
export interface LeavingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export type Authorized =
  /** Headers that replace the headers of the request. */
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly fault: BackendFault };

/** Adds credentials for the server to a request. Returns a plain value if no waiting is needed. */
type Authorize = (request: LeavingRequest) => Authorized | Promise<Authorized>;

/**
 * Receiver of the answer to one exchange. The sender calls `head` first, `data` any number of times, and finally `end`
 * or `fail` once.
 */
export interface Answer {
  /**
   * Starts the answer. Header names are in lower case. `mcp-session-id` is the backend's own id, which the proxy seals.
   */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** Returns false if the sender must stop until the client calls `resume` of the flow. */
  data(chunk: Buffer): boolean;
  end(): void;
  /**
   * Ends the answer with a fault. Before `head`, the client gets a JSON-RPC error. After `head`, the stream is cut off.
   */
  fail(fault: BackendFault): void;
}

/** An exchange in progress, controlled by the client that waits for its answer. */
export interface Flow {
  /**
   * Ends the exchange because the client has disconnected. Informs the server as its transport requires. Has no effect
   * after the end of the exchange.
   */
  abort(): void;
  /** Continues the answer after `data` returned false, once the client can accept more bytes. */
  resume(): void;
}

/** Reason why the server did not answer. `message` is for the client and contains no internal addresses. */
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
     * The caller has no credentials for the server: the caller has no token to exchange, or the token endpoint refuses
     * the token.
     */
    | 'unauthorized'
    /** The caller is not allowed to send this request to the server. */
    | 'forbidden';
  readonly message: string;
  /** Seconds after which a retry is useful. Set for `busy`, `not-started` and `unreachable`. */
  readonly retryAfterSeconds?: number;
  /** Detail for the operator's log. */
  readonly detail?: string;
}

export interface Backend {
  /** Starts the exchange. Passes failures of the server to `answer.fail` and never throws because of the server. */
  open(exchange: Exchange, answer: Answer): Flow;
  /**
   * Returns the protocol eras (with sessions, stateless) that the server itself speaks, without the era that a bridge
   * adds. undefined before the first answer.
   */
  eras(): ReadonlySet<Era> | undefined;
  probe(): Promise<Probe>;
  /** Refuses new exchanges and ends streams. Requests in flight may finish within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface Probe {
  readonly available: boolean;
  /** True if the server is available because the next call starts it. */
  readonly isAsleep?: boolean;
  readonly responseTimeMs?: number;
  readonly error?: string;
}

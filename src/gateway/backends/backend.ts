// Defines one MCP server as a caller uses it: a streamable HTTP endpoint, also if the server speaks HTTP+SSE, stdio or
// another era of the protocol.

import type { JsonObject } from '#std/json.ts';
import type { Message } from '../wire/message.ts';

/** Revisions until 2025-11-25 have sessions; since 2026-07-28 each request is independent. */
export type Era = 'session' | 'stateless';

/** HTTP request of a client that has passed the gate. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly era: Era;
  /** Path and query of the client's request; ignored by a backend whose URL has both. */
  readonly path: string;
  /**
   * Headers to send on, names in lower case: no hop-by-hop headers, and only those credentials of the caller that the
   * other side should get.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Set for POST: the client's unchanged bytes and their scanned message. */
  readonly body?: Buffer;
  readonly message?: Message;
  /** The backend's own session id, from the client's sealed one; absent without a session and for `initialize`. */
  readonly session?: string;
  /** Caller as one text (issuer, subject and client): equal for equal callers, never shown to anybody. */
  readonly caller: string;
  /** Caller as described by a verified token, for decisions about more than one server. */
  readonly identity?: CallerIdentity;
  /**
   * Set for a call of a client that supports tasks; a virtual server keeps the extensions of all other requests from
   * members.
   */
  readonly carriesTasks?: true;
  /**
   * If absent, the headers are complete. Transports call it last, for every request that they send for this exchange.
   */
  readonly authorize?: Authorize;
}

interface CallerIdentity {
  /** The caller's own token; absent if callers are not authenticated. */
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

/** Adds credentials for the other side to a request. Returns a plain value if there is nothing to wait for. */
type Authorize = (request: LeavingRequest) => Authorized | Promise<Authorized>;

/** Receiver of the answer to one exchange. `head` comes first, then data, then `end` or `fail`, then nothing. */
export interface Answer {
  /** Names in lower case. `mcp-session-id` is the backend's own id; the proxy seals it. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** Returns false if the sender must wait for `resume` of the flow. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Before `head` the fault becomes a JSON-RPC error over HTTP, after it the stream ends in an error. */
  fail(fault: BackendFault): void;
}

/** Exchange under way, controlled by the client that waits for it. */
export interface Flow {
  /**
   * Called when the client has gone: the other side is informed in the way of its transport. Has no effect after the
   * end.
   */
  abort(): void;
  /** Called when the client can accept more, after `data` returned false. */
  resume(): void;
}

/** Reason why the other side did not answer, in words for the client, without internal addresses. */
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
    /**
     * The caller gets no credentials for the other side: it has no token to exchange, or the token is refused there.
     */
    | 'unauthorized'
    /** The caller is not allowed to do this there. */
    | 'forbidden';
  readonly message: string;
  /** For `busy` and `unreachable`: seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** For the log of the operator only. */
  readonly detail?: string;
}

export interface Backend {
  /** Never throws because of the other side: failures go to `answer.fail`. */
  open(exchange: Exchange, answer: Answer): Flow;
  /** Returns the eras that the server speaks itself; a bridge serves the others. Undefined before the first answer. */
  eras(): ReadonlySet<Era> | undefined;
  /** Checks whether the server is available and which eras it speaks. */
  probe(): Promise<Probe>;
  /** Accepts no new exchanges and ends streams; requests in flight may finish within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface Probe {
  readonly available: boolean;
  readonly responseTimeMs?: number;
  /** Message for the operator. */
  readonly error?: string;
}

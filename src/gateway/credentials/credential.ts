// Defines how a request gets credentials for the server: the interface of every credential in this folder.

import type { JsonObject } from '#std/json.ts';

/** A request that is ready to be sent. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The facts about a caller on which credentials depend. */
export interface CredentialCaller {
  /** Issuer, subject and client as one text; equal for equal callers. */
  readonly key: string;
  /** The caller's own token; absent for anonymous callers. */
  readonly token?: string;
  /** Verified claims of the token; empty for anonymous callers. */
  readonly claims: JsonObject;
  /** `exp` of the token, seconds since 1970. */
  readonly expiry?: number;
}

/** Reason why a request gets no credentials. The message is for the client and reveals no internals. */
export interface CredentialRefusal {
  readonly status: 401 | 403 | 502 | 503;
  /** Code of CREDENTIAL_CODES. */
  readonly code: string;
  readonly message: string;
  /** Detail for the operator; never a token. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

export type Credentialed =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly refusal: CredentialRefusal };

/** Returns all headers with which the request is sent, or a refusal. Returns a plain value if it need not wait. */
export type Credential = (request: OutgoingRequest, caller: CredentialCaller) => Credentialed | Promise<Credentialed>;

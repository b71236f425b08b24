// Defines how a request gets credentials for the other side: the contract of every file of this folder.

import type { JsonObject } from '#std/json.ts';

/** Request ready to be sent. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Caller, as far as credentials depend on it. */
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

/**
 * Returns the headers with which the request is sent, in place of its own. A plain value if there is nothing to wait
 * for.
 */
export type Credential = (request: OutgoingRequest, caller: CredentialCaller) => Credentialed | Promise<Credentialed>;

// Defines the interface of all credentials in this folder: a credential adds authentication for the server to a
// request.

import type { JsonObject } from '#std/json.ts';

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Data about a caller that credentials depend on. */
export interface CredentialCaller {
  /** Issuer, subject and client as one text. Equal callers have equal texts. */
  readonly key: string;
  /** The caller's own token. Absent for anonymous callers. */
  readonly token?: string;
  /** Verified claims of the token. Empty for anonymous callers. */
  readonly claims: JsonObject;
  /** `exp` of the token, in seconds since 1970. */
  readonly expiry?: number;
}

/** Reason why a request gets no credentials. The message is for the client and reveals no internals. */
export interface CredentialRefusal {
  readonly status: 401 | 403 | 502 | 503;
  /** Code of CREDENTIAL_CODES. */
  readonly code: string;
  readonly message: string;
  /** Detail for the operator, without tokens. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

export type Credentialed =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly refusal: CredentialRefusal };

/** Returns all headers for the request, or a refusal. Returns a plain value if no waiting is needed. */
export type Credential = (request: OutgoingRequest, caller: CredentialCaller) => Credentialed | Promise<Credentialed>;

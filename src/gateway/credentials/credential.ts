// How a request gets rights at the other side: the contract that every file of this folder keeps.

import type { JsonObject } from '#std/json.ts';

/** The request as it would leave. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Who asks, as far as credentials depend on it. */
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

/** Why a request cannot be given rights. The message is for the client and says nothing of the inside. */
export interface CredentialRefusal {
  readonly status: 401 | 403 | 502 | 503;
  /** A code of CREDENTIAL_CODES. */
  readonly code: string;
  readonly message: string;
  /** For the operator; never a token. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

export type Credentialed =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly refusal: CredentialRefusal };

/** Gives the headers that the request leaves with, in place of its own. A value where nothing has to be waited for. */
export type Credential = (request: OutgoingRequest, caller: CredentialCaller) => Credentialed | Promise<Credentialed>;

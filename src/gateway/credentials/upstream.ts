// Replaces the caller's token with the person's token at a provider. An embedded authorization server stores this token
// after a login.

import { Failure } from '#std/failure.ts';
import type { Credential, CredentialCaller, CredentialRefusal } from './credential.ts';
import { unknownCaller } from './unknown-caller.ts';

/** Returns the token. undefined if the login has ended. Throws a Failure if the state of the login is unknown. */
export type UpstreamTokenOf = (caller: CredentialCaller) => Promise<string | undefined>;

export function upstreamInjection(tokenOf: UpstreamTokenOf): Credential {
  return actAsUpstream(tokenOf, ({ headers }, { token }) => {
    return { ok: true, headers: { ...headers, authorization: `Bearer ${token}` } };
  });
}

/**
 * Returns a credential that receives the person's token at a provider in place of the caller's token. Refuses requests
 * for which no such token exists.
 */
export function actAsUpstream(tokenOf: UpstreamTokenOf, credential: Credential): Credential {
  return async function applyAsUpstream(request, caller) {
    let token: string | undefined;
    try {
      token = await tokenOf(caller);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ok: false, refusal: { ...UNAVAILABLE, detail: error.message } };
    }
    if (token === undefined) return unknownCaller();
    // `expiry` is omitted, because the provider's token expires at another time than the caller's token.
    return credential(request, { key: caller.key, claims: caller.claims, token });
  };
}

const UNAVAILABLE: CredentialRefusal = {
  status: 503,
  code: 'upstream-token-unavailable',
  message: 'your token for this server cannot be refreshed at the moment',
  retryAfterSeconds: 5,
};

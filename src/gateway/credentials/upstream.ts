// The person's own token at a provider in place of the one that the caller sent: what an embedded authorization server keeps
// of a login.

import { Failure } from '#std/failure.ts';
import type { Credential, CredentialCaller, CredentialRefusal } from './credential.ts';
import { unknownCaller } from './unknown-caller.ts';

/** Undefined: the login has ended. Throws a Failure where that cannot be said at the moment. */
export type UpstreamTokenOf = (caller: CredentialCaller) => Promise<string | undefined>;

export function upstreamInjection(tokenOf: UpstreamTokenOf): Credential {
  return actAsUpstream(tokenOf, ({ headers }, { token }) => {
    return { ok: true, headers: { ...headers, authorization: `Bearer ${token}` } };
  });
}

/** The credential with the person's token at a provider as the token of the caller. Without one, the request is refused. */
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
    // It ends at another time than the caller's own.
    return credential(request, { key: caller.key, claims: caller.claims, token });
  };
}

const UNAVAILABLE: CredentialRefusal = {
  status: 503,
  code: 'upstream-token-unavailable',
  message: 'your token for this server cannot be refreshed at the moment',
  retryAfterSeconds: 5,
};

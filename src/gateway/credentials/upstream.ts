// The person's own token at a provider in place of the one that the caller sent: what an embedded authorization server keeps
// of a login.

import { Failure } from '#std/failure.ts';
import type { Credential, CredentialCaller, Credentialed, CredentialRefusal } from './credential.ts';
import { unknownCaller } from './unknown-caller.ts';

/** Undefined: the login has ended. Throws a Failure where that cannot be said at the moment. */
export type UpstreamTokenOf = (caller: CredentialCaller) => Promise<string | undefined>;

export function upstreamInjection(tokenOf: UpstreamTokenOf): Credential {
  return async function injectUpstreamToken({ headers }, caller): Promise<Credentialed> {
    try {
      const token = await tokenOf(caller);
      return token === undefined
        ? unknownCaller()
        : { ok: true, headers: { ...headers, authorization: `Bearer ${token}` } };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ok: false, refusal: { ...UNAVAILABLE, detail: error.message } };
    }
  };
}

const UNAVAILABLE: CredentialRefusal = {
  status: 503,
  code: 'upstream-token-unavailable',
  message: 'your token for this server cannot be refreshed at the moment',
  retryAfterSeconds: 5,
};

// Applies two credentials to a request, one after the other.

import type { Credential } from './credential.ts';

/**
 * Passes the headers of the first credential to the second credential. Returns a plain value if no credential must
 * wait.
 */
export function inTurn(first: Credential, second: Credential): Credential {
  return function applyBoth(request, caller) {
    const given = first(request, caller);
    if (!(given instanceof Promise)) return given.ok ? second({ ...request, headers: given.headers }, caller) : given;
    return given.then((each) => (each.ok ? second({ ...request, headers: each.headers }, caller) : each));
  };
}

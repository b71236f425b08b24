// Refuses a request whose credentials depend on an unknown caller.

import type { Credentialed } from './credential.ts';

/** The request is never passed on unchanged: the server would see a call without the intended credentials. */
export function unknownCaller(): Credentialed {
  return {
    ok: false,
    refusal: {
      status: 401,
      code: 'credential-caller-unknown',
      message: 'a token of the caller is needed for this server',
    },
  };
}

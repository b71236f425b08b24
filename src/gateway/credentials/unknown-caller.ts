// Refuses a request whose credentials depend on an unknown caller.

import type { Credentialed } from './credential.ts';

/** Refuses the request, since passing it on unchanged would make a call without the intended credentials. */
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

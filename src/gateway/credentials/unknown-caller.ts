// Refuses a request whose credentials depend on an unknown caller.

import type { Credentialed } from './credential.ts';

/** Returns the refusal. Forwarding the request unchanged would make a call without the configured credentials. */
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

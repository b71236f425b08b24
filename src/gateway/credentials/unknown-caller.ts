// What a request gets whose rights would come from a caller that is not known.

import type { Credentialed } from './credential.ts';

/** It is never passed on as it came: the server would see a call without the rights that it was meant to have. */
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

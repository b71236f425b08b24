// Creates the Failure for credentials whose configuration cannot be used.

import { Failure } from '#std/failure.ts';

/** Returns the Failure. `pointer` names the key in the file, and `message` continues the sentence after it. */
export function configFault(pointer: string, message: string): Failure {
  return new Failure('credential-config-invalid', `${pointer} ${message}`, { data: { pointer } });
}

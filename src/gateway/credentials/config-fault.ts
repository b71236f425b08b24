// Creates Failures for configurations of credentials that are not usable.

import { Failure } from '#std/failure.ts';

/**
 * Returns the Failure. `pointer` names the key in the file, and `message` continues the sentence that begins with the
 * key.
 */
export function configFault(pointer: string, message: string): Failure {
  return new Failure('credential-config-invalid', `${pointer} ${message}`, { data: { pointer } });
}

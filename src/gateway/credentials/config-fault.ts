// Creates the Failure of this folder for a configuration that cannot be used.

import { Failure } from '#std/failure.ts';

/** `pointer` is that of the key in the file; `message` continues the sentence. */
export function configFault(pointer: string, message: string): Failure {
  return new Failure('credential-config-invalid', `${pointer} ${message}`, { data: { pointer } });
}

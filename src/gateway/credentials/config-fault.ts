// Creates the Failure for an unusable configuration of credentials.

import { Failure } from '#std/failure.ts';

/** Returns the Failure. Its message consists of `pointer`, which names the key in the file, and `message`. */
export function configFault(pointer: string, message: string): Failure {
  return new Failure('credential-config-invalid', `${pointer} ${message}`, { data: { pointer } });
}

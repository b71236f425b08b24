// What every file of this folder says of a configuration that cannot be used.

import { Failure } from '#std/failure.ts';

/** `pointer` is that of the key in the file; `message` goes on from it. */
export function configFault(pointer: string, message: string): Failure {
  return new Failure('credential-config-invalid', `${pointer} ${message}`, { data: { pointer } });
}

// Declares the type of a problem inside one object.

import type { Severity } from '#std/problem.ts';

export interface Finding {
  /** Stable kebab-case code, from the table of the area that found the problem. */
  readonly code: string;
  readonly severity: Severity;
  /** JSON pointer (RFC 6901) into the object. */
  readonly pointer: string;
  /** A sentence that states the fault and its remedy. Never contains a secret value. */
  readonly message: string;
  /** `key` if the finding is about the key itself (an unknown field). Absent if the finding is about the value. */
  readonly at?: 'key';
  /** The API server's reason (`FieldValueInvalid`, ...). Absent if the validation rule names no reason. */
  readonly reason?: string;
}

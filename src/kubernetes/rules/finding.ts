// Something wrong inside one object, as data.

import type { Severity } from '#std/problem.ts';

export interface Finding {
  /** Stable kebab-case code of the table of the area that found it. */
  readonly code: string;
  readonly severity: Severity;
  /** JSON pointer (RFC 6901) into the object. */
  readonly pointer: string;
  /** One sentence: what is wrong, and what would be right. Never holds a secret value. */
  readonly message: string;
  /** What to point at: `key` where the key itself is wrong (an unknown field). Absent: the value. */
  readonly at?: 'key';
  /** The API server's word for it (`FieldValueInvalid`, ...), where a validation rule names one. */
  readonly reason?: string;
}

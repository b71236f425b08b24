// Returns the finding that a field has no effect.

import type { Finding } from './kind.ts';

/** `why`: the end of the sentence `<field> has no effect: <why>`. */
export function fieldWithoutEffect(pointer: string, why: string): Finding {
  const field = pointer.slice(pointer.lastIndexOf('/') + 1);
  return { code: 'field-without-effect', severity: 'warning', pointer, message: `${field} has no effect: ${why}` };
}

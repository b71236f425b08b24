// Says that a field has no effect, because something else counts.

import type { Finding } from './kind.ts';

/** `why` as the end of a sentence: `<field> has no effect: <why>`. */
export function fieldWithoutEffect(pointer: string, why: string): Finding {
  const field = pointer.slice(pointer.lastIndexOf('/') + 1);
  return { code: 'field-without-effect', severity: 'warning', pointer, message: `${field} has no effect: ${why}` };
}

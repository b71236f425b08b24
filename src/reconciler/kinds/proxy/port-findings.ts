// Reports a deprecated `port` that has no effect because of `proxyPort`.

import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

/** The two fields default to 8080, so it is unknown whether an author wrote a field with 8080. */
export function proxyPortFindings(spec: { readonly port: number; readonly proxyPort: number }): readonly Finding[] {
  const { port, proxyPort } = spec;
  if (port === 8080 || proxyPort === 8080) return [];
  return [fieldWithoutEffect('/spec/port', 'proxyPort counts instead')];
}

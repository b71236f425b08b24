// Reports a deprecated `port` that has no effect because of `proxyPort`.

import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

/** Both default to 8080, so with that value it is unknown whether the author wrote it. */
export function proxyPortFindings(spec: { readonly port: number; readonly proxyPort: number }): readonly Finding[] {
  const { port, proxyPort } = spec;
  if (port === 8080 || proxyPort === 8080) return [];
  return [fieldWithoutEffect('/spec/port', 'proxyPort counts instead')];
}

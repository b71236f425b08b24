// Reports a deprecated `port` that has no effect beside `proxyPort`.

import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

/** Both default to 8080: with that value it cannot be known who wrote it. */
export function proxyPortFindings(spec: { readonly port: number; readonly proxyPort: number }): readonly Finding[] {
  const { port, proxyPort } = spec;
  if (port === 8080 || proxyPort === 8080) return [];
  return [fieldWithoutEffect('/spec/port', 'proxyPort counts instead')];
}

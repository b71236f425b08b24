// Reports a deprecated `port` that has no effect because of `proxyPort`.

import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

/** Ignores 8080, the default of both fields, because the author may not have written it. */
export function proxyPortFindings(spec: { readonly port: number; readonly proxyPort: number }): readonly Finding[] {
  const { port, proxyPort } = spec;
  if (port === 8080 || proxyPort === 8080) return [];
  return [fieldWithoutEffect('/spec/port', 'proxyPort counts instead')];
}

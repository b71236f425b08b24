// Trusts the certificate authorities that a configuration names, for the requests to one provider.

import type { Fetch } from './ports.ts';

/**
 * `file`: PEM file, which is read for each request, because certificates rotate. Undefined: the usual authorities are
 * trusted.
 */
export function trustingFetch(fetch: Fetch, files: { read(path: string): string }, file: string | undefined): Fetch {
  if (file === undefined) return fetch;
  return async (request) => fetch({ ...request, ca: files.read(file) });
}

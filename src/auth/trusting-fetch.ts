// Trusts the certificate authorities of a configured file in requests.

import type { Fetch } from './ports.ts';

/**
 * Returns a fetch that trusts the PEM certificates in `file`. Reads `file` for each request, because certificates
 * rotate. If `file` is undefined, the usual authorities are trusted.
 */
export function trustingFetch(fetch: Fetch, files: { read(path: string): string }, file: string | undefined): Fetch {
  if (file === undefined) return fetch;
  return async (request) => fetch({ ...request, ca: files.read(file) });
}

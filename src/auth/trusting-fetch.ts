// Creates a `fetch` that trusts the certificate authorities in a configured file.

import type { Fetch } from './ports.ts';

/**
 * Returns a fetch that trusts the PEM certificates in `file`. Reads `file` for each request, because certificates
 * rotate. If `file` is undefined, returns `fetch` unchanged.
 */
export function trustingFetch(fetch: Fetch, files: { read(path: string): string }, file: string | undefined): Fetch {
  if (file === undefined) return fetch;
  return async (request) => fetch({ ...request, ca: files.read(file) });
}

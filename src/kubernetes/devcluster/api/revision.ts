// Parses resourceVersions of requests.

import { apiError, badRequest } from './status.ts';

/**
 * Returns undefined if `text` is null or empty. If `text` is not a number, throws a 400 for a list, and a 500 without a
 * reason for a watch.
 */
export function readRevision(text: string | null, verb: 'list' | 'watch' = 'list'): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text);
  const value = JSON.stringify(text);
  const why = `strconv.ParseUint: parsing ${value}: invalid syntax`;
  const message = `resourceVersion: Invalid value: ${value}: ${why}`;
  throw verb === 'watch' ? apiError(500, '', message) : badRequest(`invalid resource version: ${message}`);
}

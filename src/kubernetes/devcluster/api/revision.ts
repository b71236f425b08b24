// Reads resource versions as clients write them.

import { apiError, badRequest } from './status.ts';

/**
 * Returns undefined without a text. If the text is not a number, throws a 400, or for a watch a 500 without a reason.
 */
export function readRevision(text: string | null, verb: 'list' | 'watch' = 'list'): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text);
  const value = JSON.stringify(text);
  const why = `strconv.ParseUint: parsing ${value}: invalid syntax`;
  const message = `resourceVersion: Invalid value: ${value}: ${why}`;
  throw verb === 'watch' ? apiError(500, '', message) : badRequest(`invalid resource version: ${message}`);
}

// Resource versions as clients write them.

import { badRequest } from './status.ts';

/** Undefined where none is given; a 400 where it is no number. */
export function readRevision(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text);
  const value = JSON.stringify(text);
  const why = `strconv.ParseUint: parsing ${value}: invalid syntax`;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${value}: ${why}`);
}

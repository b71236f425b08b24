// Reads a registry file from a URL.

import type { UrlOrigin } from '#contracts/registry/source.ts';
import type { Content, ReadRequest } from '#registry/catalogue/ports.ts';
import type { Outbound } from '../http/outbound.ts';
import { askSource, documentOf, validatorsOf } from './answer.ts';

/** Fetches the file only if it changed. Throws Failure with one of SOURCE_CODES or OUTBOUND_CODES. */
export async function readUrl(
  outbound: Outbound,
  { origin, resume, signal, arrived }: ReadRequest<UrlOrigin>,
): Promise<Content | 'unchanged'> {
  const response = await askSource(outbound, { ...origin, resume, signal, arrived });
  if (response.status === 304 && resume !== undefined) return 'unchanged';
  return { documents: [documentOf(response)], extent: 'whole', resume: validatorsOf(response) };
}

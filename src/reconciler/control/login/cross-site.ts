// Refuses requests with the cookie of a login that change something, unless the console itself sends them.

import type { FastifyRequest } from 'fastify';
import { isOneOf } from '#std/secret.ts';
import type { Refusal } from '../actions/permission.ts';
import type { Caller } from '../ports.ts';

const SAFE = ['GET', 'HEAD'];

/**
 * Browsers send `Origin` with each POST, and most send `Sec-Fetch-Site`; pages of other sites can set neither, and cannot
 * read the value of `X-Skep-Csrf`. Without `Origin` or `X-Skep-Csrf`, the request is refused.
 */
export function crossSiteRefusal(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  { csrf }: Pick<Caller, 'csrf'>,
  origin: string,
): Refusal | undefined {
  if (SAFE.includes(method)) return undefined;
  const { 'sec-fetch-site': site = 'same-origin', 'x-skep-csrf': given } = headers;
  const isOwn = site === 'same-origin' && headers.origin === origin;
  const proves = csrf !== undefined && typeof given === 'string' && isOneOf(given, [csrf]);
  if (isOwn && proves) return undefined;
  return { code: 'control-cross-site', message: 'only the console itself may send this request with its cookie' };
}

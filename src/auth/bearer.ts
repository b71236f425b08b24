// Reads the token from the Authorization header (RFC 6750 section 2.1).

import type { Rejection } from './rejection.ts';

/** Maximum length of a token, in characters. */
export const TOKEN_LENGTH_MAX = 16_384;

// The rule b64token of RFC 6750 section 2.1.
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

export type BearerResult =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly rejection: Rejection };

/** `values` are all Authorization headers of the request, in order. */
export function readBearer(values: readonly string[]): BearerResult {
  const [value] = values;
  if (value === undefined) return rejected({ reason: 'credentials-missing' });
  if (values.length > 1) return rejected({ reason: 'authorization-repeated', count: values.length });
  const [scheme = '', ...rest] = value.trim().split(' ');
  // Another scheme counts as missing credentials, for which RFC 6750 section 3 requires no error code. Names of schemes
  // are case-insensitive (RFC 9110 section 11.1).
  if (scheme.toLowerCase() !== 'bearer') return rejected({ reason: 'credentials-missing' });
  const token = rest.join(' ').trimStart();
  if (token.length > TOKEN_LENGTH_MAX) {
    return rejected({ reason: 'token-too-long', length: token.length, limit: TOKEN_LENGTH_MAX });
  }
  if (!TOKEN.test(token)) return rejected({ reason: 'authorization-malformed' });
  return { ok: true, token };
}

/**
 * Returns all Authorization headers, in order. `rawHeaders` contains names and values alternately. `headers` of Node.js
 * contains only the first header of a name.
 */
export function authorizationHeaders(rawHeaders: readonly string[]): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === NAME.length && name.toLowerCase() === NAME) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

const NAME = 'authorization';

function rejected(rejection: Rejection): BearerResult {
  return { ok: false, rejection };
}

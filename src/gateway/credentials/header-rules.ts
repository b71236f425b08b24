// Defines which headers a configuration may add to requests, and which values are valid.

import { configFault } from './config-fault.ts';

/** Token of RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Headers that belong to a connection or a message (RFC 9110 section 7.6.1, RFC 9113 section 8.2.2), or describe the
 * caller.
 */
const RESTRICTED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
]);
const RESTRICTED_PREFIXES = ['proxy-', 'x-forwarded-'];

/** Characters that a field value must not contain (RFC 9110 section 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const ASCII = /^[\t\u0020-\u007e]*$/;

/**
 * Returns the name in lower case. Throws Failure `credential-config-invalid` for a header that is invalid or must not
 * be set.
 */
export function settableHeader(name: string, pointer: string): string {
  if (!NAME.test(name)) throw configFault(pointer, `${JSON.stringify(name)} is not the name of a header`);
  const lower = name.toLowerCase();
  if (RESTRICTED.has(lower) || RESTRICTED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    throw configFault(pointer, `${name} describes the connection or the caller: only the proxy itself sets it`);
  }
  return lower;
}

/**
 * Returns the value as an HTTP client needs it: text above ASCII as UTF-8, with one character per byte. undefined if
 * the text is empty or not a valid header value.
 */
export function headerValue(text: string): string | undefined {
  if (text === '' || UNSENDABLE.test(text)) return undefined;
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Returns the value for Authorization. Allows all visible ASCII characters in a token, more than RFC 6750 section 2.1,
 * because some services issue such tokens.
 */
export function bearerValue(token: string): string | undefined {
  return /^[\u0021-\u007e]+$/.test(token) ? `Bearer ${token}` : undefined;
}

// Where clients may send people back to: which URIs may be registered, and which of a request fits a registered one. Knows
// nothing about who asks.

import type { OAuthErrorCode } from '../message.ts';
import { isLoopback } from '../settings.ts';

const LENGTH_MAX = 2048;
/** Browsers run or show what is in these themselves. */
const DANGEROUS = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'javascript:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
]);

/** Undefined where it may be registered; otherwise what is wrong with it. */
export function redirectFault(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null || uri.length > LENGTH_MAX || /[\s\\]|[^\x20-\x7e]/.test(uri)) return 'is no absolute URI';
  if (uri.includes('#')) return 'has a fragment (RFC 6749 section 3.1.2)';
  if (url.username !== '' || url.password !== '') return 'has a user name or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') {
    return isLoopback(url.hostname) ? undefined : 'is http on another host than loopback (RFC 8252 section 7.3)';
  }
  return DANGEROUS.has(url.protocol) ? `has the scheme ${url.protocol}` : undefined;
}

/** Character by character; on loopback every port fits, since apps get theirs when they start (RFC 8252 section 7.3). */
export function fitsRedirect(registered: readonly string[], uri: string): boolean {
  return registered.some((each) => each === uri || fitsLoopback(each, uri));
}

function fitsLoopback(registered: string, uri: string): boolean {
  const [own, asked] = [URL.parse(registered), URL.parse(uri)];
  if (own?.protocol !== 'http:' || !isLoopback(own.hostname) || asked === null) return false;
  if (redirectFault(uri) !== undefined) return false;
  return withoutPort(own, registered) === withoutPort(asked, uri);
}

/** The text as it was given but for its port, so that nothing is equal that was merely normalised. */
function withoutPort({ host, hostname, port }: URL, uri: string): string {
  return port === '' ? uri : uri.replace(`http://${host}`, `http://${hostname}`);
}

/** The URI with what the client gets; what it has itself stays (RFC 6749 section 3.1.2). */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const added = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(added)}`;
}

/** RFC 6749 section 4.1.2.1, with `iss` (RFC 9207). */
export function redirectError(
  { redirectUri, state }: { readonly redirectUri: string; readonly state?: string },
  iss: string,
  error: OAuthErrorCode,
  description: string,
): string {
  return redirectWith(redirectUri, { error, error_description: description, state, iss });
}

/** What a person can recognise of it. */
export function redirectPlace(uri: string): string {
  const url = new URL(uri);
  if (url.protocol === 'https:') return url.host;
  if (url.protocol === 'http:') return 'an app on this computer';
  return `the app that opens ${url.protocol}// links`;
}

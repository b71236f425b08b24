// Decides which redirect URIs clients may register, and which registered URI matches the URI of a request.

import { isLoopback } from '#std/address/loopback.ts';
import type { OAuthErrorCode } from '../message.ts';

const LENGTH_MAX = 2048;
/**
 * Schemes without a dot that browsers, operating systems or common programs handle themselves. A redirect would start
 * these programs with parameters of the client. Schemes with a dot belong to the owner of a domain (RFC 8252 section
 * 7.1).
 */
const SYSTEM_SCHEMES = new Set(
  `about acrobat afp app apt bitcoin blob calculator callto chrome chrome-extension cid content data device dict dns edge facetime
  facetime-audio feed file filesystem finger ftp ftps geo git gopher hcp help http imap intent irc ircs itms itms-apps itms-services
  jar javascript ldap ldaps livescript magnet mailto maps market message mhtml mid mms moz-extension mocha news nfs nntp onenote
  opaquelocktoken outlook pop res resource rlogin rsync rtsp search sftp shell shortcuts sip sips skype smb sms smsto ssh steam
  svn tel telnet terminal tn3270 urn vbscript view-source vnc webcal wais ws wss wyciwyg x-apple x-man-page xmpp zoommtg
  android-app app-prefs app-settings brave citrixreceiver dav davs diagnostics facetime-prompt firefox ghelp
  googlechrome googlechromes info itms-beta its jnlp jnlps ldapi macappstore macappstores man mk msteams odbc ogg opera package
  photos-redirect prefs rdp snap tel-prompt telprompt tg unc vivaldi vmrc webdav webdavs whatsapp zoomus`
    .split(/\s+/)
    .map((scheme) => `${scheme}:`),
);
/**
 * Families of schemes that are refused for the same reason: `ms-settings:`, `search-ms:`, `x-apple.systempreferences:`,
 * handlers of web pages, `svn+ssh:`.
 */
const SYSTEM_FAMILY =
  /^(?:ms-|microsoft|windows|web\+|x-apple|x-man|com\.apple\.|opera-)|(?:-ms|\+(?:ssh|https?|file)):$/;

/** Returns the fault of the URI. undefined if the URI may be registered. */
export function redirectFault(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null || uri.length > LENGTH_MAX || /[\s\\]|[^\x20-\x7e]/.test(uri)) return 'is not an absolute URI';
  if (uri.includes('#')) return 'has a fragment (RFC 6749 section 3.1.2)';
  if (url.username !== '' || url.password !== '') return 'has a user name or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') {
    return isLoopback(url.hostname) ? undefined : 'is http on another host than loopback (RFC 8252 section 7.3)';
  }
  return schemeFault(url);
}

/**
 * Returns the fault of the URI's scheme. Apps such as editors use short schemes with their own name as host
 * (`cursor://host/path`). A short scheme without `//` is typical of system commands, and is refused even if
 * SYSTEM_SCHEMES does not contain it.
 */
function schemeFault({ protocol, host }: URL): string | undefined {
  if (SYSTEM_SCHEMES.has(protocol) || SYSTEM_FAMILY.test(protocol)) return `has the scheme ${protocol} of a system`;
  if (protocol.includes('.') || host !== '') return undefined;
  return `has the scheme ${protocol} without a dot and names no host (RFC 8252 section 7.1)`;
}

/**
 * Returns whether the URI equals a registered URI. On loopback every port matches, because apps get their port when
 * they start (RFC 8252 section 7.3).
 */
export function fitsRedirect(registered: readonly string[], uri: string): boolean {
  return registered.some((each) => each === uri || fitsLoopback(each, uri));
}

function fitsLoopback(registered: string, uri: string): boolean {
  const [own, asked] = [URL.parse(registered), URL.parse(uri)];
  if (own?.protocol !== 'http:' || !isLoopback(own.hostname) || asked === null) return false;
  if (redirectFault(uri) !== undefined) return false;
  return withoutPort(own, registered) === withoutPort(asked, uri);
}

/** Removes the port from the original text. Normalisation could make different URIs equal. */
function withoutPort({ host, hostname, port }: URL, uri: string): string {
  return port === '' ? uri : uri.replace(`http://${host}`, `http://${hostname}`);
}

/** Adds the client's parameters to the URI, and keeps the URI's own parameters (RFC 6749 section 3.1.2). */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const added = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(added)}`;
}

/** Returns the redirect that reports an error (RFC 6749 section 4.1.2.1), with `iss` (RFC 9207). */
export function redirectError(
  { redirectUri, state }: { readonly redirectUri: string; readonly state?: string },
  iss: string,
  error: OAuthErrorCode,
  description: string,
): string {
  return redirectWith(redirectUri, { error, error_description: description, state, iss });
}

/** Returns a description of the destination that a person can recognise. */
export function redirectPlace(uri: string): string {
  const url = new URL(uri);
  if (url.protocol === 'https:') return url.host;
  if (url.protocol === 'http:') return 'an app on this computer';
  return `the app that opens ${url.protocol}// links`;
}

// Says whether a host is this machine, to which TLS is not needed because nothing leaves it (RFC 8252 section 8.3).

/**
 * Whether the host is an address of RFC 8252 section 7.3, or the name that nearly every client uses instead.
 * `hostname`: as in `URL`.
 */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Every name and address of this machine, as in `URL`. */
const LOOPBACK_HOST = /^(?:127\.|0\.|\[::(?:1|ffff:(?:7f[^\]]*|0:[^\]]*))?\]$)|(?:^|\.)localhost\.?$/;

/** Whether a redirect URI is https outside loopback: an app on a computer cannot keep a secret. */
export function isWebRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' && !LOOPBACK_HOST.test(url.hostname);
}

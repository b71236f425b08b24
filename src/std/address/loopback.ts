// Decides whether a host is this machine. Requests to it need no TLS, because they do not leave the machine (RFC 8252
// section 8.3).

/**
 * Whether the host is an address of RFC 8252 section 7.3, or `localhost`, which nearly every client uses instead.
 * `hostname` has the form of `URL.hostname`.
 */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Matches every name and address of this machine, in the form of `URL.hostname`. */
const LOOPBACK_HOST = /^(?:127\.|0\.|\[::(?:1|ffff:(?:7f[^\]]*|0:[^\]]*))?\]$)|(?:^|\.)localhost\.?$/;

/** Whether a redirect URI is https outside loopback: an app on a computer cannot keep a secret. */
export function isWebRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' && !LOOPBACK_HOST.test(url.hostname);
}

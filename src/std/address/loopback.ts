// Says whether a host is this machine, to which TLS is not needed because nothing leaves it (RFC 8252 section 8.3).

/** As RFC 8252 section 7.3 has it, and the name that nearly every client uses in its place. `hostname`: as URL has it. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Each name and address of this machine, as URL has it. */
const LOOPBACK_HOST = /^(?:127\.|0\.|\[::(?:1|ffff:(?:7f[^\]]*|0:[^\]]*))?\]$)|(?:^|\.)localhost\.?$/;

/** Whether a redirect URI is https outside loopback: an app on a computer cannot keep a secret. */
export function isWebRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' && !LOOPBACK_HOST.test(url.hostname);
}

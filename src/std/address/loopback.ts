// Decides whether a host is this machine. Traffic to this machine needs no TLS (RFC 8252 section 8.3).

/**
 * Returns whether the host is a loopback address of RFC 8252 section 7.3, or `localhost`, which most clients use
 * instead. `hostname` has the form of `URL.hostname`.
 */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Matches all names and addresses of this machine, in the form of `URL.hostname`. */
const LOOPBACK_HOST = /^(?:127\.|0\.|\[::(?:1|ffff:(?:7f[^\]]*|0:[^\]]*))?\]$)|(?:^|\.)localhost\.?$/;

/**
 * Returns whether a redirect URI is https and not loopback. Other redirect URIs belong to native apps, which cannot
 * keep a client secret.
 */
export function isWebRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' && !LOOPBACK_HOST.test(url.hostname);
}

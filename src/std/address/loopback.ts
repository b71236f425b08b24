// Says whether a host is this machine, to which TLS is not needed because nothing leaves it (RFC 8252 section 8.3).

/** As RFC 8252 section 7.3 has it, and the name that nearly every client uses in its place. `hostname`: as URL has it. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

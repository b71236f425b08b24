// Parameters of an authorization request that a configuration cannot set.

/** RFC 6749 section 4.1.1, RFC 7636, OpenID Connect Core 1.0 sections 3.1.2.1 and 6: each is the answer to one visit, or replaces all others. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]);

export function isReservedParameter(name: string): boolean {
  return RESERVED.has(name);
}

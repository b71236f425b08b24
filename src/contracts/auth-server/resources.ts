// Compares resources and audiences of an embedded authorization server, in its settings and in requests.

/** Returns the known resource that equals the requested resource; undefined if it is unknown. */
export function knownResource(known: readonly string[], asked: string): string | undefined {
  // A resource must have no fragment (RFC 8707 section 2).
  return asked.includes('#') ? undefined : known.find((each) => isSameResource(each, asked));
}

/** Compares two resources. `https://host` and `https://host/` are equal, because many libraries add the slash. */
export function isSameResource(known: string, named: string): boolean {
  // An audience may be a text that is not a URL (RFC 8693 section 2.1).
  return known === named || (URL.canParse(named) && URL.parse(known)?.href === URL.parse(named)?.href);
}

/**
 * Returns the audiences of which an assertion must name one. Without settings, the only audience is the token endpoint.
 */
export function assertionAudiences(
  issuer: string,
  [first = `${issuer}/oauth/token`, ...others]: readonly string[] = [],
): readonly [string, ...string[]] {
  return [first, ...others];
}

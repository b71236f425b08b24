// Compares the resources and audiences of an embedded authorization server, in its settings and in requests.

/** Returns the known resource that a client means, or undefined if the resource is unknown. */
export function knownResource(known: readonly string[], asked: string): string | undefined {
  // RFC 8707 section 2: a resource has no fragment.
  return asked.includes('#') ? undefined : known.find((each) => isSameResource(each, asked));
}

/** Clients write `https://host` with a slash at its end, since libraries print the URL so. */
export function isSameResource(known: string, named: string): boolean {
  // An audience need not be a URL (RFC 8693 section 2.1).
  return known === named || (URL.canParse(named) && URL.parse(known)?.href === URL.parse(named)?.href);
}

/** Returns the audiences of assertions, of which an assertion needs one: by default the token endpoint. */
export function assertionAudiences(
  issuer: string,
  [first = `${issuer}/oauth/token`, ...others]: readonly string[] = [],
): readonly [string, ...string[]] {
  return [first, ...others];
}

// Finds the resource that a client means: it may write the URL in another way.

/** The known resource that a client means; undefined if there is none. */
export function knownResource(known: readonly string[], asked: string): string | undefined {
  return known.find((each) => isSameResource(each, asked));
}

/** Clients write `https://host` with a slash at its end, as URLs of it are printed. */
function isSameResource(known: string, asked: string): boolean {
  if (asked.includes('#')) return false;
  // An audience need not be a URL (RFC 8693 section 2.1).
  return known === asked || (URL.canParse(asked) && URL.parse(known)?.href === URL.parse(asked)?.href);
}

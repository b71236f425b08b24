// Reads and sets the two cookies of the authorization server. One cookie identifies the browser. The other cookie
// identifies the person who last logged in with the browser.

import { sha256 } from '#std/hash.ts';
import { readCookie } from '#std/requests/cookie.ts';
import type { IssuerSecrets } from './keys/secrets.ts';
import type { IssuerRequest } from './message.ts';
import type { IssuerPorts } from './ports.ts';

export interface Cookies {
  /** Returns the digest of the browser cookie. undefined if the browser has no such cookie. */
  browser(request: IssuerRequest): string | undefined;
  /** Returns the digest of a new browser cookie, and the header value that sets the cookie. */
  newBrowser(): { readonly browser: string; readonly cookie: string };
  person(request: IssuerRequest): string | undefined;
  setPerson(person: string): string;
}

const PERSON_MS = 30 * 24 * 3_600_000;
const BROWSER_BYTES = 32;

/**
 * Creates the cookies. The prefix `__Host-` prevents other hosts from setting or reading the cookies (RFC 6265bis
 * section 4.1.3.2). SameSite is Lax, because a provider returns the browser by a GET from another site. Cookie names
 * contain a mark of the issuer, because several issuers may share a host.
 */
export function createCookies(
  { issuer, pagesUrl }: { readonly issuer: string; readonly pagesUrl: string },
  secrets: IssuerSecrets,
  { random, clock }: Pick<IssuerPorts, 'random' | 'clock'>,
): Cookies {
  const isSecure = pagesUrl.startsWith('https:');
  const mark = sha256(issuer).slice(0, 12);
  const [browserName, personName] = ['browser', 'person'].map(
    (use) => `${isSecure ? '__Host-' : ''}skep-${use}-${mark}`,
  );
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    browser(request) {
      const value = readCookie(request.headers.cookie, browserName ?? '');
      return value === undefined ? undefined : sha256(value);
    },
    newBrowser() {
      const value = random(BROWSER_BYTES).toString('base64url');
      return { browser: sha256(value), cookie: `${browserName}=${value}${attributes}` };
    },
    person(request) {
      const sealed = readCookie(request.headers.cookie, personName ?? '');
      const text = sealed === undefined ? undefined : secrets.unseal('person cookie', issuer, sealed);
      if (text === undefined) return undefined;
      const { person, until }: { person: string; until: number } = JSON.parse(text);
      return clock.now() < until ? person : undefined;
    },
    setPerson(person) {
      const sealed = secrets.seal('person cookie', issuer, JSON.stringify({ person, until: clock.now() + PERSON_MS }));
      return `${personName}=${sealed}; Max-Age=${PERSON_MS / 1000}${attributes}`;
    },
  };
}

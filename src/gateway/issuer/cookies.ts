// Reads and sets the two cookies of the authorization server: one identifies the browser, the other the person who last
// logged in with this browser.

import { sha256 } from '#std/hash.ts';
import { readCookie } from '#std/requests/cookie.ts';
import type { IssuerSecrets } from './keys/secrets.ts';
import type { IssuerRequest } from './message.ts';
import type { IssuerPorts } from './ports.ts';

export interface Cookies {
  /** Returns the digest of the browser's own cookie, or undefined if the browser has no cookie. */
  browser(request: IssuerRequest): string | undefined;
  /** Returns the digest of a new cookie, and the header that sets it. */
  newBrowser(): { readonly browser: string; readonly cookie: string };
  person(request: IssuerRequest): string | undefined;
  setPerson(person: string): string;
}

const PERSON_MS = 30 * 24 * 3_600_000;
const BROWSER_BYTES = 32;

/**
 * Creates the cookies. The prefix `__Host-` keeps other hosts from setting or reading them (RFC 6265bis section
 * 4.1.3.2). SameSite is Lax, since a GET from another site brings the browser back from a provider. Several issuers may
 * share a host, so each has cookie names of its own.
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

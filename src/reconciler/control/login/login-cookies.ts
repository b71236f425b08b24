// Reads and sets the two cookies of the login: the session, and the visit to the provider.

import { sha256 } from '#std/hash.ts';
import { readCookie } from '#std/requests/cookie.ts';
import type { LoginVisit } from '../ports.ts';

export interface LoginCookies {
  session(header: string | undefined): string | undefined;
  visit(header: string | undefined): LoginVisit | undefined;
  setSession(id: string): string;
  setVisit(visit: LoginVisit): string;
  /** Headers that remove a cookie from the browser. */
  readonly endSession: string;
  readonly endVisit: string;
}

/** Time for a login at the provider. */
const VISIT_SECONDS = 600;
const VISIT = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;

/**
 * The prefix `__Host-` keeps other hosts from setting the cookies (RFC 6265bis section 4.1.3.2). The session is
 * `SameSite=Strict`: the page has no data, and its own requests carry it. The visit is `Lax`, because the provider, another
 * site, sends the browser back.
 */
export function createLoginCookies(url: string): LoginCookies {
  const isSecure = url.startsWith('https:');
  const mark = sha256(url).slice(0, 8);
  const [session, visit] = ['console', 'login'].map((use) => `${isSecure ? '__Host-' : ''}skep-${use}-${mark}`);
  const attributes = (sameSite: 'Strict' | 'Lax') =>
    `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  return {
    session: (header) => readCookie(header, session ?? ''),
    visit(header) {
      const [, state, nonce, verifier] = VISIT.exec(readCookie(header, visit ?? '') ?? '') ?? [];
      if (state === undefined || nonce === undefined || verifier === undefined) return undefined;
      return { state, nonce, verifier };
    },
    setSession: (id) => `${session}=${id}; ${attributes('Strict')}`,
    setVisit: ({ state, nonce, verifier }) =>
      `${visit}=${state}.${nonce}.${verifier}; Max-Age=${VISIT_SECONDS}; ${attributes('Lax')}`,
    endSession: `${session}=; Max-Age=0; ${attributes('Strict')}`,
    endVisit: `${visit}=; Max-Age=0; ${attributes('Lax')}`,
  };
}

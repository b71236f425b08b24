// Computes the next request after a redirect.

import { Failure } from '#std/failure.ts';
import { displayUrl } from './failures.ts';

interface Redirectable {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RedirectResponse {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Returns the request for the target of a redirect. undefined if the response is not a redirect. `left` is the number
 * of redirects that may still be followed. Only a GET is redirected, because a POST must not be repeated at another
 * URL.
 */
export function redirected<Request extends Redirectable>(
  request: Request,
  response: RedirectResponse,
  left: number,
): Request | undefined {
  const { location } = response.headers;
  if (!REDIRECTS.includes(response.status) || location === undefined) return undefined;
  if (request.method !== 'GET') return undefined;
  if (left <= 0) throw new Failure('outbound-redirect-refused', 'redirects too often');
  const from = new URL(request.url);
  const to = URL.parse(location, request.url);
  if (to === null) throw new Failure('outbound-redirect-refused', 'redirects to a location that is not a URL');
  if (from.protocol === 'https:' && to.protocol !== 'https:') {
    throw new Failure('outbound-redirect-refused', `redirects from https to ${displayUrl(to)}`);
  }
  const headers = from.origin === to.origin ? request.headers : withoutCredentials(request.headers ?? {});
  return { ...request, url: to.href, headers };
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !['authorization', 'cookie'].includes(name.toLowerCase()));
  return Object.fromEntries(kept);
}

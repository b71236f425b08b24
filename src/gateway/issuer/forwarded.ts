// Redirects browsers to the host of the login pages, because the browser sends the cookies of the pages only to this
// host. The redirect is needed for callbacks at another host, and for the authorization endpoint at a path below the
// issuer.

import type { IssuerRequest } from './message.ts';
import { KEYS, type PendingLogin, readRecord } from './records.ts';
import type { IssuerWorld } from './world.ts';

/**
 * Parameter that marks a forwarded request, which must not be forwarded again. The value of the parameter is the
 * original path.
 */
const FORWARDED = 'forwarded';

/**
 * Returns the URL of the callback at the host of the pages. undefined if the request must be handled without
 * forwarding.
 */
export async function findOwnCallback(world: IssuerWorld, request: IssuerRequest): Promise<string | undefined> {
  const { settings, cookies, ports } = world;
  const { origin } = new URL(settings.pagesUrl);
  const isForeign = settings.upstreams.some(({ redirectUri }) => {
    const url = new URL(redirectUri);
    return url.pathname === request.path && url.origin !== origin;
  });
  if (!isForeign || request.query.has(FORWARDED)) return undefined;
  const browser = cookies.browser(request);
  const known = await readRecord<PendingLogin>(ports.store, KEYS.pending(request.query.get('state') ?? ''));
  // A browser may have a cookie of the current host, from before the pages moved to another host.
  const isHere = browser !== undefined && known?.record.browser === browser;
  return isHere ? undefined : forwardedTo(world, request, 'callback');
}

/**
 * Returns the URL of the authorization endpoint at the host of the pages. undefined if the request must be handled
 * without forwarding.
 */
export function findOwnEndpoint({ settings }: IssuerWorld, request: IssuerRequest): string | undefined {
  const { issuer, pagesUrl, path } = settings;
  const isOld = request.path === `${path}/oauth/authorize` && request.headers.host === new URL(issuer).host;
  if (!isOld || pagesUrl === issuer || request.query.has(FORWARDED)) return undefined;
  return forwardedTo({ settings }, request, 'authorize');
}

function forwardedTo({ settings }: Pick<IssuerWorld, 'settings'>, request: IssuerRequest, endpoint: string): string {
  const query = new URLSearchParams(request.query);
  query.set(FORWARDED, request.path);
  return `${settings.pagesUrl}/oauth/${endpoint}?${query}`;
}

/** Returns the path at which a provider's answer first arrived. */
export function arrivedAt({ query, path }: IssuerRequest): string {
  return query.get(FORWARDED) ?? path;
}

// Decides which redirects of an MCP server are followed, and to which URL.

import type { BackendFault, LeavingRequest } from './backend.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

export type Redirect =
  /** `followed`: the request must be repeated at `url`. */
  { readonly kind: 'followed'; readonly url: string } | { readonly kind: 'refused'; readonly fault: BackendFault };

/** Two redirects are normal for a server that adds a slash and, for example, a tenant. */
const MAX_FOLLOWED = 3;
const SHOWN_CHARACTERS = 200;

/** Redirects that keep the method and the body (RFC 9110, 15.4.8 and 15.4.9). */
const REPEATING: ReadonlySet<number> = new Set([307, 308]);

/**
 * Decides about the answer to `request`. Returns undefined if the answer is not a redirect. Follows only 307 and 308
 * within the origin of the server, so that credentials stay with the server. `followed` is the number of earlier
 * redirects.
 */
export function readRedirect(
  request: LeavingRequest,
  followed: number,
  status: number,
  headers: Headers,
): Redirect | undefined {
  if (status < 300 || status >= 400 || status === 304) return undefined;
  const to = typeof headers.location === 'string' ? URL.parse(headers.location, request.url) : null;
  if (to === null)
    return refuseRedirect('the MCP server answered with a redirect', `status ${status}, without a usable Location`);
  const detail = `status ${status}, Location ${shorten(`${to.origin}${to.pathname}`)}`;
  const from = new URL(request.url);
  if (!isSameServer(request, from, to))
    return refuseRedirect('the MCP server answered with a redirect to another origin', detail);
  const path = shorten(to.pathname);
  if (!REPEATING.has(status)) {
    const reason = 'only 307 and 308 are followed';
    return refuseRedirect(`the MCP server answered with status ${status}, a redirect to ${path}: ${reason}`, detail);
  }
  if (followed >= MAX_FOLLOWED) {
    return refuseRedirect(`the MCP server answered with one redirect after another, at last to ${path}`, detail);
  }
  // The configured origin is used, even if the server has another name for itself.
  const url = new URL(from);
  url.pathname = to.pathname;
  url.search = to.search;
  return { kind: 'followed', url: url.href };
}

/**
 * Returns whether the redirect stays on the server. A redirect to the host that was sent in the Host header stays on
 * the server, because servers build a Location from this header.
 */
function isSameServer({ headers }: LeavingRequest, from: URL, to: URL): boolean {
  if (to.username !== '' || to.password !== '' || to.protocol !== from.protocol) return false;
  if (to.host === from.host) return true;
  const sent = headers.host === undefined ? null : URL.parse(`${from.protocol}//${headers.host}`);
  return sent !== null && to.host === sent.host;
}

function refuseRedirect(message: string, detail: string): Redirect {
  return { kind: 'refused', fault: { reason: 'answer-invalid', message, detail } };
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

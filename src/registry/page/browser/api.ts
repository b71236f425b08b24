// Sends requests to the registry API. Keeps the token only in memory.

import { members, text } from './json.ts';

export type Trouble =
  | Refusal
  | { readonly kind: 'unreachable' | 'slow' }
  | { readonly kind: 'limited' | 'unavailable'; readonly seconds: number | undefined }
  | { readonly kind: 'fault'; readonly status: number; readonly requestId: string | undefined };

/** Errors that a repeated request cannot fix. */
export type Refusal =
  | { readonly kind: 'unauthorized' | 'forbidden' | 'missing' }
  | { readonly kind: 'invalid'; readonly reason: string };

export type Answer = { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly trouble: Trouble };

export interface Api {
  /**
   * Sends a request. `path` is relative to the page. `other` replaces the token for this request. After an abort of the
   * signal, the result must be ignored.
   */
  get(path: string, signal: AbortSignal, other?: string): Promise<Answer>;
  /** Sets the token. undefined deletes it. */
  setToken(token: string | undefined): void;
  hasToken(): boolean;
}

const TIMEOUT_MS = 20_000;

export function createApi(): Api {
  let token: string | undefined;
  return {
    async get(path, signal, other) {
      const sent = other ?? token;
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const response = await fetch(new URL(`./${path}`, document.baseURI), {
          headers: sent === undefined ? {} : { authorization: `Bearer ${sent}` },
          signal: AbortSignal.any([signal, timeout]),
          credentials: 'omit',
          redirect: 'error',
        });
        if (!response.ok) return { ok: false, trouble: await troubleOf(response) };
        return { ok: true, body: await response.json() };
      } catch (error) {
        if (error instanceof SyntaxError)
          return { ok: false, trouble: { kind: 'fault', status: 200, requestId: undefined } };
        return { ok: false, trouble: { kind: timeout.aborted ? 'slow' : 'unreachable' } };
      }
    },
    setToken(value) {
      token = value;
    },
    hasToken: () => token !== undefined,
  };
}

async function troubleOf(response: Response): Promise<Trouble> {
  const { status, headers } = response;
  switch (status) {
    case 400:
      return { kind: 'invalid', reason: text(members(await response.json()).error) ?? 'bad request' };
    case 401:
      return { kind: 'unauthorized' };
    case 403:
      return { kind: 'forbidden' };
    case 404:
      return { kind: 'missing' };
    case 429:
      return { kind: 'limited', seconds: secondsOf(headers) };
    case 502:
    case 503:
    case 504:
      return { kind: 'unavailable', seconds: secondsOf(headers) };
    default:
      return { kind: 'fault', status, requestId: headers.get('x-request-id') ?? undefined };
  }
}

function secondsOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? '');
  return Number.isInteger(seconds) && seconds > 0 ? seconds : undefined;
}

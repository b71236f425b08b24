// Requests the data of the console, and its actions, from the reconciler that serves it. The token is kept in memory only.

import type { FleetState } from '../../../run/fleet-state/format.ts';
import type { RunRecord } from '../../../run/history/ports.ts';
import { type EventReader, readEvents } from './events.ts';
import type { ResourceLogs, ResourceReadings } from './resource/pods/readings-format.ts';
import type { ResourceDetail } from './resource/resource-format.ts';
import type { Session } from './session.ts';
import type { Waiting } from './waiting/waiting-format.ts';

/** A run in the list of runs, as docs/outputs/history.json describes it. */
export type RunInShort = Omit<RunRecord, 'outcomes' | 'held' | 'problems' | 'notReady'>;

/** `tag`: equal for equal bodies, if the response has one. `refused`: the token is missing or unknown. `says` is one sentence for the reader. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly tag: string | null }
  | { readonly ok: false; readonly refused: boolean; readonly says: string };

const TIMEOUT_MS = 20_000;
/** Previews plan a whole run. */
const ACTION_TIMEOUT_MS = 120_000;

export function createApi() {
  let token = '';
  /** Milliseconds between the clock of the reconciler and the clock of the page. */
  let offset = 0;
  /** Value that proves to the reconciler that its own page sends a request with the cookie. */
  let csrf = '';
  const headers = (): Record<string, string> => (token === '' ? {} : { authorization: `Bearer ${token}` });
  async function request<T>(path: string, init: RequestInit, timeoutMs = TIMEOUT_MS): Promise<Answer<T>> {
    try {
      const response = await fetch(new URL(`./${path}`, document.baseURI), {
        ...init,
        headers: { accept: 'application/json', ...headers(), ...init.headers },
        signal: AbortSignal.timeout(timeoutMs),
        credentials: 'same-origin',
        redirect: 'error',
      });
      const served = Date.parse(response.headers.get('date') ?? '');
      if (!Number.isNaN(served)) offset = served - pageTime();
      const body = await response.json();
      if (response.ok) return { ok: true, body, tag: response.headers.get('etag') };
      const says = String(body.error ?? `the answer is ${response.status}`);
      return { ok: false, refused: response.status === 401, says };
    } catch {
      return { ok: false, refused: false, says: 'the reconciler does not respond' };
    }
  }
  const get = <T>(path: string) => request<T>(path, {});
  const post = <T>(path: string, body: object) => {
    const own = { 'content-type': 'application/json', 'x-skep-csrf': csrf };
    return request<T>(path, { method: 'POST', headers: own, body: JSON.stringify(body) }, ACTION_TIMEOUT_MS);
  };
  return {
    fleet: () => get<FleetState>('fleet'),
    waiting: () => get<Waiting>('fleet/waiting'),
    async session() {
      const answer = await get<Session>('fleet/session');
      csrf = answer.ok ? (answer.body.csrf ?? '') : '';
      return answer;
    },
    act: <T>(name: string, input: object) => post<T>(`fleet/actions/${name}`, input),
    logOut: () => post<object>('logout', {}),
    resource: (id: string) => get<ResourceDetail>(`fleet/resource?id=${encodeURIComponent(id)}`),
    logs: (id: string) => get<ResourceLogs>(`fleet/resource/logs?id=${encodeURIComponent(id)}`),
    readings: (id: string) => get<ResourceReadings>(`fleet/resource/readings?id=${encodeURIComponent(id)}`),
    runs: () => get<{ readonly runs: readonly RunInShort[] }>('runs'),
    run: (id: string) => get<{ readonly run: RunRecord }>(`runs/${encodeURIComponent(id)}`),
    /** Follows the events of the fleet. Resolves when the stream ends or breaks. */
    follow: (reader: EventReader, signal: AbortSignal) =>
      readEvents(new URL('./fleet/events', document.baseURI), headers(), reader, signal),
    /**
     * Milliseconds since 1970 by the clock of the reconciler. Times from the reconciler are compared with this clock.
     */
    now: () => offset + pageTime(),
    hasToken: () => token !== '',
    setToken(value: string) {
      token = value;
    },
  };
}

/** Milliseconds since the page was opened. */
function pageTime(): number {
  return Number(document.timeline.currentTime ?? 0);
}

export type Api = ReturnType<typeof createApi>;

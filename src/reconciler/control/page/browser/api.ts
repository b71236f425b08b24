// Requests the data of the console from the reconciler that serves it. The token is kept in memory only.

import type { FleetState } from '../../../run/fleet-state/format.ts';
import type { RunRecord } from '../../../run/history/ports.ts';
import { type EventReader, readEvents } from './events.ts';
import type { ResourceLogs, ResourceReadings } from './resource/pods/readings-format.ts';
import type { ResourceDetail } from './resource/resource-format.ts';

/** A run in the list of runs, as docs/outputs/history.json describes it. */
export type RunInShort = Omit<RunRecord, 'outcomes' | 'held' | 'problems' | 'notReady'>;

/** `tag`: equal for equal bodies, if the response has one. `refused`: the token is missing or unknown. `says` is one sentence for the reader. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly tag: string | null }
  | { readonly ok: false; readonly refused: boolean; readonly says: string };

const TIMEOUT_MS = 20_000;

export function createApi() {
  let token = '';
  /** Milliseconds between the clock of the reconciler and the clock of the page. */
  let offset = 0;
  const headers = (): Record<string, string> => (token === '' ? {} : { authorization: `Bearer ${token}` });
  async function get<T>(path: string): Promise<Answer<T>> {
    try {
      const response = await fetch(new URL(`./${path}`, document.baseURI), {
        headers: { accept: 'application/json', ...headers() },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        credentials: 'omit',
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
  return {
    fleet: () => get<FleetState>('fleet'),
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

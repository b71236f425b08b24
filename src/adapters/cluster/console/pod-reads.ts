// Reads logs and HTTP answers of pods, and Events, for the console. The requests have connections of their own and are
// not repeated, so that no run waits for a pod, and a pod that does not answer does not count as a busy API server.

import type { PodPlace, PodReads } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { type JsonObject, objectsIn } from '#std/json.ts';
import { type ApiOptions, createApi } from '../api.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { createLimiter } from '../limiter.ts';

/** Maximum number of requests at a time. */
const CONCURRENCY = 4;
/** Milliseconds for one answer. A console waits 10 s for all of them. */
const TIMEOUT_MS = 5000;

const EVENTS_PER_PAGE = 500;
const EVENT_PAGES_MAX = 4;
const EVENT_PAGE_BYTES = 4 * 1024 * 1024;

export function openPodReads(options: ApiOptions): PodReads & { readonly close: () => Promise<void> } {
  const api = createApi({
    ...options,
    limiter: createLimiter(CONCURRENCY),
    connections: CONCURRENCY,
    deadline: () => Infinity,
  });

  async function read(path: string, maxBytes: number, accept: string, headers?: Readonly<Record<string, string>>) {
    const request = {
      method: 'GET',
      path,
      accept,
      headers,
      maxBytes,
      timeoutMs: TIMEOUT_MS,
      repeatable: false,
    } as const;
    const { text, exceeds } = await api.send(request);
    if (exceeds !== true) return text;
    const url = api.url(path.split('?')[0] ?? '');
    throw new Failure('cluster-error', `${url}: the answer is longer than ${maxBytes} bytes`, { data: { url } });
  }

  return {
    log(pod, container, { lines, bytes, previous }) {
      const query = new URLSearchParams({ container, tailLines: String(lines), ...(previous && { previous: 'true' }) });
      return read(`${podPath(pod)}/log?${query}`, bytes, '*/*');
    },
    request: ({ namespace, name }, { port, path }, { bytes, headers }) =>
      read(`${podPath({ namespace, name: `${name}:${port}` })}/proxy${path}`, bytes, '*/*', headers),
    async events(namespace) {
      const events: JsonObject[] = [];
      let next = '';
      for (let page = 0; page < EVENT_PAGES_MAX; page += 1) {
        const query = new URLSearchParams({ limit: String(EVENTS_PER_PAGE), ...(next !== '' && { continue: next }) });
        const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events?${query}`;
        const { items, metadata } = jsonObjectOf(api, path, await read(path, EVENT_PAGE_BYTES, 'application/json'));
        events.push(...objectsIn(items));
        const [{ continue: token } = {}] = objectsIn([metadata]);
        if (typeof token !== 'string' || token === '') return { events, complete: true };
        next = token;
      }
      return { events, complete: false };
    },
    close: () => api.close(),
  };
}

function podPath({ namespace, name }: PodPlace): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}

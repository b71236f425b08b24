// Reads and writes the objects of an API server for a node, over HTTP.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod, Service } from '#kubernetes/devcluster/node/objects.ts';
import type { NodeApi } from '#kubernetes/devcluster/node/ports.ts';
import type { Api } from '../../recordings/api.ts';

const GONE = [404, 409];
const LOOK_MS = 100;

/** Returns undefined if the object does not exist. */
async function read<T>(api: Api, path: string): Promise<T | undefined> {
  const { status, body } = await api.call({ method: 'GET', path, query: {} });
  if (status === 200) return body as T;
  if (status === 404) return undefined;
  throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
}

export async function list<T>(api: Api, path: string): Promise<readonly T[]> {
  return (await read<{ readonly items: readonly T[] }>(api, path))?.items ?? [];
}

/** Sends a write. Ignores errors about objects that were deleted or replaced in the meantime. */
export async function write(
  api: Api,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: object,
): Promise<{ readonly [key: string]: unknown }> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await api.call({ method, path, query: {}, contentType, body: JSON.stringify(body) });
  if (answer.status >= 300 && !GONE.includes(answer.status) && !isAnotherNow(answer.body)) {
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body as { readonly [key: string]: unknown };
}

/** True if a new pod of the same name exists: the API server then refuses the write as a change of the uid. */
function isAnotherNow(body: unknown): boolean {
  const { details } = body as { readonly details?: { readonly causes?: readonly { readonly field?: string }[] } };
  return details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false;
}

export function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

export interface HttpNodeOptions {
  /** Namespaces whose pods the node runs if they are bound to `node`. */
  readonly namespaces: readonly string[];
  readonly node: string;
  /** Called each time before the node reads the pods. */
  before(): Promise<void>;
}

export function httpNodeApi(api: Api, { namespaces, node, before }: HttpNodeOptions): NodeApi {
  const pathOf = ({ metadata: { namespace, name } }: Pod) => `${podsPath(namespace)}/${name}`;
  return {
    async pods() {
      await before();
      const lists = await Promise.all(namespaces.map((namespace) => list<Pod>(api, podsPath(namespace))));
      return lists.flat().filter(({ spec }) => spec.nodeName === node);
    },
    data: (plural, namespace, name) => read(api, `/api/v1/namespaces/${namespace}/${plural}/${name}`),
    // The test itself gives processes their access to the API server.
    account: async () => undefined,
    // The programs of the tests do not read owners.
    owners: async () => [],
    service: (namespace, name) => read<Service>(api, `/api/v1/namespaces/${namespace}/services/${name}`),
    async writeStatus(pod, status) {
      await write(api, 'PATCH', `${pathOf(pod)}/status`, { metadata: { uid: pod.metadata.uid }, status });
    },
    async remove(pod) {
      const { uid } = pod.metadata;
      await write(api, 'DELETE', pathOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } });
    },
    // Tests read the statuses of pods instead of Events.
    recordEvent: async () => undefined,
    follow(look) {
      const over = new AbortController();
      void (async () => {
        while (!over.signal.aborted) {
          look();
          await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
        }
      })();
      return () => over.abort();
    },
  };
}

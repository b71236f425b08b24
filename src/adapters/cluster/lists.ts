// Reads all objects of a kind, page by page. Knows nothing about what they hold.

import type { KubeObject } from '../../kube/object.ts';
import type { ApiResource, Clock } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { Api } from './api.ts';
import { readJson } from './json-answer.ts';
import { isKubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import { unexpected } from './refusals.ts';

const PAGE = 500;
/** A list whose pages expire again and again is read in one piece the last time: that cannot expire. */
const TRIES = [PAGE, PAGE, undefined];

/** Milliseconds for one page. */
const PAGE_MS = 20_000;
/** The same for a kind that had no answer within that lately: whoever serves it keeps no other kind waiting. */
const SILENT_PAGE_MS = 2_000;
const LATELY_MS = 5 * 60_000;

/** Reads all items of a kind, in the order of the server; `apiVersion` and `kind`, which lists leave out, are filled in. */
export function openLists(
  api: Api,
  clock: Pick<Clock, 'monotonic'>,
): (kind: ApiResource, namespace: string | undefined) => Promise<KubeObject[]> {
  const silentSince = new Map<string, number>();
  return async (kind, namespace) => {
    const path = collectionPath(kind, namespace);
    const since = silentSince.get(path) ?? Number.NEGATIVE_INFINITY;
    const startedAt = clock.monotonic();
    const isSilent = startedAt - since < LATELY_MS;
    try {
      const items = await listAll(api, kind, path, isSilent ? SILENT_PAGE_MS : PAGE_MS);
      silentSince.delete(path);
      return items;
    } catch (error) {
      if (!isSilent && error instanceof Failure && clock.monotonic() - startedAt >= PAGE_MS)
        silentSince.set(path, clock.monotonic());
      throw error;
    }
  };
}

async function listAll(api: Api, kind: ApiResource, path: string, timeoutMs: number): Promise<KubeObject[]> {
  let expired: unknown;
  for (const limit of TRIES) {
    try {
      return await readPages(api, kind, path, { limit, timeoutMs: limit === undefined ? undefined : timeoutMs });
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'cluster-gone') throw error;
      expired = error;
    }
  }
  throw expired;
}

interface Pages {
  /** Items of one; absent: all in one. */
  readonly limit: number | undefined;
  readonly timeoutMs: number | undefined;
}

async function readPages(
  api: Api,
  kind: ApiResource,
  path: string,
  { limit, timeoutMs }: Pages,
): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  const sets = new Map<string, JsonObject>();
  let next = '';
  do {
    const query = new URLSearchParams({
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(next === '' ? {} : { continue: next }),
    });
    const page = await readJson(api, query.size === 0 ? path : `${path}?${query}`, { timeoutMs });
    for (const item of readItems(api.url(path), kind, page.items)) {
      shareFieldSets(item, sets);
      items.push(item);
    }
    next = isObject(page.metadata) ? String(page.metadata.continue ?? '') : '';
  } while (next !== '');
  return items;
}

/** An empty list may come as `null`. */
function readItems(url: string, { apiVersion, kind }: ApiResource, items: unknown): KubeObject[] {
  if (items === null || items === undefined) return [];
  if (!Array.isArray(items)) throw unexpected(url, 'the answer is no list');
  return items.map((item: unknown) => {
    const whole = isObject(item) ? { apiVersion, kind, ...item } : item;
    if (!isKubeObject(whole)) throw unexpected(url, 'the list holds what is no object');
    return whole;
  });
}

/**
 * Objects of a kind mostly have the same fields, and who manages them takes more memory than what they say: equal sets
 * become one.
 */
function shareFieldSets({ metadata }: KubeObject, known: Map<string, JsonObject>): void {
  for (const entry of metadata.managedFields ?? []) {
    const text = JSON.stringify(entry.fieldsV1);
    const same = known.get(text);
    if (same === undefined) known.set(text, entry.fieldsV1);
    else entry.fieldsV1 = same;
  }
}

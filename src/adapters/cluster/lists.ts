// Reads all objects of a kind in pages. The page size is a number of objects or, if objects may be large, a number of
// bytes.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource, Clock, ListOptions } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ClusterApi } from './api.ts';
import { jsonObjectOf } from './json-answer.ts';
import { isKubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import { notAwaited, unexpected } from './refusals.ts';

/**
 * Servers send the first page from memory. Further pages come from storage and take many times as long. With this size,
 * most kinds need one page.
 */
const PAGE = 2_000;
/** A longer page is requested again with fewer objects. */
const PAGE_BYTES_MAX = 12 * 1024 * 1024;
/** A page with at most this many objects is always read. */
const PAGE_WHOLE = 500;
/**
 * Page sizes of the attempts. If pages expire twice, the last attempt reads the list without pages, so that it cannot
 * expire.
 */
const TRIES = [PAGE, PAGE, undefined];

/** Number of objects in the first page of a list with large objects. Later pages aim at `LARGE_BYTES`. */
const FIRST_LARGE = 16;
const LARGE_BYTES = 4 * 1024 * 1024;
/** Page sizes for large objects. Large objects are never read without pages, because the list may exceed the memory. */
const TRIES_LARGE = [FIRST_LARGE, FIRST_LARGE, FIRST_LARGE];

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** Annotation in which kubectl stores a copy of the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Timeout of one page in milliseconds. */
const PAGE_MS = 20_000;
/** Timeout in milliseconds of one page of a kind that recently timed out. */
const SILENT_PAGE_MS = 2_000;
const LATELY_MS = 5 * 60_000;
/** Milliseconds that a caller waits for a kind that recently timed out. A longer wait would delay other kinds. */
const SILENT_WAIT_MS = 250;

interface ListContent {
  readonly objects: KubeObject[];
  /** resourceVersion of the collection. Empty if the server sends none. */
  readonly version: string;
}

export type ReadList = (kind: ApiResource, namespace?: string, options?: ListOptions) => Promise<ListContent>;

/**
 * Reads all items of a kind in the order of the API server's response. Adds `apiVersion` and `kind`, which list items
 * lack.
 */
export function openLists(api: ClusterApi, clock: Pick<Clock, 'monotonic' | 'sleep'>): ReadList {
  const silentSince = new Map<string, number>();
  /**
   * Running LISTs of kinds that recently timed out. Only one per list is sent, because unanswered LISTs would use up
   * all connections.
   */
  const underWay = new Set<string>();
  async function listNoting(kind: ApiResource, path: string, pages: PageOptions): Promise<ListContent> {
    const startedAt = clock.monotonic();
    try {
      const items = await listAll(api, kind, path, pages);
      silentSince.delete(path);
      return items;
    } catch (error) {
      if (error instanceof Failure && clock.monotonic() - startedAt >= PAGE_MS)
        silentSince.set(path, clock.monotonic());
      throw error;
    }
  }
  return async (kind, namespace, options = {}) => {
    const path = collectionPath(kind, namespace);
    const since = silentSince.get(path);
    if (since === undefined) return listNoting(kind, path, { ...options, timeoutMs: PAGE_MS });
    // After `LATELY_MS`, a LIST gets the full timeout again, because the kind's server may be slow rather than down.
    const timeoutMs = clock.monotonic() - since < LATELY_MS ? SILENT_PAGE_MS : PAGE_MS;
    const asked = [path, options.selector, options.only].join(' ');
    if (underWay.has(asked)) throw notAwaited(api.url(path));
    underWay.add(asked);
    const listing = listNoting(kind, path, { ...options, timeoutMs }).finally(() => underWay.delete(asked));
    listing.catch(() => undefined);
    const items = await Promise.race([listing, clock.sleep(SILENT_WAIT_MS).then(() => undefined)]);
    if (items === undefined) throw notAwaited(api.url(path));
    return items;
  };
}

interface PageOptions extends ListOptions {
  readonly timeoutMs: number | undefined;
}

async function listAll(api: ClusterApi, kind: ApiResource, path: string, pages: PageOptions): Promise<ListContent> {
  let expired: unknown;
  for (const limit of pages.large === true ? TRIES_LARGE : TRIES) {
    try {
      const timeoutMs = limit === undefined ? undefined : pages.timeoutMs;
      return await readPages(api, kind, path, { ...pages, timeoutMs }, limit);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'cluster-gone') throw error;
      expired = error;
    }
  }
  throw expired;
}

async function readPages(
  api: ClusterApi,
  kind: ApiResource,
  path: string,
  pages: PageOptions,
  first: number | undefined,
): Promise<ListContent> {
  const { selector, keep = () => true, hold = (object) => object } = pages;
  const items: KubeObject[] = [];
  const sets = new Map<string, JsonObject>();
  let limit = first;
  let next = '';
  for (;;) {
    const query = new URLSearchParams({
      ...(selector === undefined ? {} : { labelSelector: selector }),
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(next === '' ? {} : { continue: next }),
    });
    const { page, bytes } = await readPage(api, query.size === 0 ? path : `${path}?${query}`, pages, limit);
    if (page === undefined) {
      limit = Math.max(1, Math.floor((limit ?? FIRST_LARGE) / 4));
      continue;
    }
    const found = readItems(api.url(path), kind, page.items);
    for (const item of found) {
      const object = pages.only === 'metadata' ? metadataOf(item) : item;
      if (!keep(object)) continue;
      const heldObject = hold(object);
      shareFieldSets(heldObject, sets);
      items.push(heldObject);
    }
    const metadata = isObject(page.metadata) ? page.metadata : {};
    next = String(metadata.continue ?? '');
    if (pages.large === true) limit = nextLimit(limit ?? FIRST_LARGE, bytes);
    // All pages have the resourceVersion of the first page.
    if (next === '') return { objects: items, version: String(metadata.resourceVersion ?? '') };
  }
}

/** Returns no page if it is too long. The caller then requests fewer objects. */
async function readPage(
  api: ClusterApi,
  path: string,
  { only, large, timeoutMs }: PageOptions,
  limit: number | undefined,
): Promise<{ readonly page: JsonObject | undefined; readonly bytes: number }> {
  const accept = only === 'metadata' ? METADATA_LIST : undefined;
  const whole = large === true ? 1 : PAGE_WHOLE;
  const maxBytes = limit === undefined || limit <= whole ? undefined : PAGE_BYTES_MAX;
  const answer = await api.send({ method: 'GET', path, repeatable: true, accept, timeoutMs, maxBytes });
  if (answer.exceeds === true) return { page: undefined, bytes: 0 };
  return { page: jsonObjectOf(api, path, answer.text), bytes: answer.text.length };
}

/** Returns the number of objects for a page of the desired length, assuming objects as long as in the last page. */
function nextLimit(limit: number, bytes: number): number {
  return Math.min(PAGE, Math.max(1, Math.min(limit * 16, Math.floor((limit * LARGE_BYTES) / Math.max(1, bytes)))));
}

/** Returns the items of a page. Some servers send `null` for an empty list. */
function readItems(url: string, { apiVersion, kind }: ApiResource, items: unknown): KubeObject[] {
  if (items === null || items === undefined) return [];
  if (!Array.isArray(items)) throw unexpected(url, 'the answer is not a list');
  return items.map((item: unknown) => {
    const whole = isObject(item) ? { ...item, apiVersion, kind } : item;
    if (!isKubeObject(whole)) throw unexpected(url, 'the list holds an item that is not an object');
    return whole;
  });
}

/** Returns the object as in a PartialObjectMetadataList. */
export function metadataOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { [LAST_APPLIED]: _content, ...annotations } = metadata.annotations ?? {};
  return { apiVersion, kind, metadata: metadata.annotations === undefined ? metadata : { ...metadata, annotations } };
}

/**
 * Lets objects share equal `managedFields` sets, which take more memory than the remaining object. Objects of a kind
 * mostly have equal sets.
 */
function shareFieldSets({ metadata }: KubeObject, known: Map<string, JsonObject>): void {
  for (const entry of metadata.managedFields ?? []) {
    const text = JSON.stringify(entry.fieldsV1);
    const same = known.get(text);
    if (same === undefined) known.set(text, entry.fieldsV1);
    else entry.fieldsV1 = same;
  }
}

// Reads all objects of a kind, page by page. Knows nothing about what they hold.

import type { KubeObject } from '../../kube/object.ts';
import type { ApiResource } from '../../reconcile/ports.ts';
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

/** Items in the order of the server; `apiVersion` and `kind`, which lists leave out, are filled in. */
export async function listAll(api: Api, kind: ApiResource, namespace: string | undefined): Promise<KubeObject[]> {
  const path = collectionPath(kind, namespace);
  let expired: unknown;
  for (const limit of TRIES) {
    try {
      return await readPages(api, kind, path, limit);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'cluster-gone') throw error;
      expired = error;
    }
  }
  throw expired;
}

async function readPages(api: Api, kind: ApiResource, path: string, limit: number | undefined): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  const sets = new Map<string, JsonObject>();
  let next = '';
  do {
    const query = new URLSearchParams({
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(next === '' ? {} : { continue: next }),
    });
    const page = await readJson(api, query.size === 0 ? path : `${path}?${query}`);
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

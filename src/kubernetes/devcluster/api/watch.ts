// Serves a watch: sends the objects of a collection, then every change that matches the selectors.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { StorageChange } from '../storage/change.ts';
import type { ApiContext } from './context.ts';
import { inVersionOf } from './find.ts';
import { selectorOf } from './list.ts';
import type { ApiRequest } from './request.ts';
import { readRevision } from './revision.ts';
import { isTrue } from './route.ts';
import type { Matcher } from './selectors.ts';
import { expired, invalid, statusOf } from './status.ts';

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly object: JsonObject }
  | { readonly type: 'ERROR'; readonly object: JsonObject };

export interface Watch {
  /** Calls `emit` with the initial events, then with each later change. The returned function ends the watch. */
  start(emit: (event: WatchEvent) => void): () => void;
  /** Returns an event with the current revision. undefined if the client did not request bookmarks. */
  bookmark(): WatchEvent | undefined;
  /** Milliseconds after which the server must end the watch. If undefined, the server chooses the time. */
  readonly timeoutMs: number | undefined;
}

/** Throws for invalid parameters. If the revision is too old, the watch sends an ERROR event. */
export function openWatch(context: ApiContext, request: ApiRequest): Watch {
  const { type, namespace, query } = request;
  const matches = selectorOf(request);
  const from = readRevision(query.get('resourceVersion'), 'watch');
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const initial = readInitial(query, from);
  const timeoutSeconds = Number(query.get('timeoutSeconds') ?? '0');
  const seen = { revision: from ?? 0 };
  const bookmark = (annotations?: JsonObject): WatchEvent => bookmarkEvent(type, seen.revision, annotations);
  const select = (change: StorageChange): WatchEvent | undefined =>
    namespace !== undefined && change.key.namespace !== namespace ? undefined : selectEvent(type, matches, change);
  return {
    timeoutMs: timeoutSeconds > 0 ? timeoutSeconds * 1000 : undefined,
    bookmark: () => (bookmarks ? bookmark() : undefined),
    start: (emit) => {
      if (!initial && from !== undefined && from < context.store.oldest()) {
        emit({ type: 'ERROR', object: tooOld(from, context.store.oldest()) });
        return () => undefined;
      }
      const push = (change: StorageChange): void => {
        seen.revision = change.revision;
        const event = change.key.collection === type.collection ? select(change) : undefined;
        if (event !== undefined) emit(event);
      };
      if (initial) emitState(context, request, matches, emit);
      else for (const change of context.store.changesSince(from ?? 0, type.collection)) push(change);
      seen.revision = Math.max(seen.revision, context.store.revision());
      if (isTrue(query.get('sendInitialEvents')) && bookmarks) emit(bookmark({ 'k8s.io/initial-events-end': 'true' }));
      return context.store.subscribe(push);
    },
  };
}

/** True if the watch begins with the existing objects. */
function readInitial(query: URLSearchParams, from: number | undefined): boolean {
  const asked = query.get('sendInitialEvents');
  if (asked === null) return from === undefined || from === 0;
  if (query.get('resourceVersionMatch') !== 'NotOlderThan') {
    const message = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    const cause = { reason: 'FieldValueForbidden', message, field: 'resourceVersionMatch' } as const;
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'ListOptions' }, '', [cause]);
  }
  return isTrue(asked);
}

function emitState(
  context: ApiContext,
  { type, namespace }: ApiRequest,
  matches: Matcher,
  emit: (event: WatchEvent) => void,
): void {
  for (const object of context.store.list(type.collection, namespace)) {
    const served = inVersionOf(type, object);
    if (matches(served)) emit({ type: 'ADDED', object: served });
  }
}

/**
 * Converts a change to an event of this watch. An object that begins to match is reported as added. An object that no
 * longer matches is reported as deleted.
 */
function selectEvent(type: ResourceType, matches: Matcher, change: StorageChange): WatchEvent | undefined {
  const before = change.previous !== undefined && matches(inVersionOf(type, change.previous));
  const now = change.type !== 'DELETED' && matches(inVersionOf(type, change.object));
  if (!before && !now) return undefined;
  const object = inVersionOf(type, now ? change.object : lastMatching(change));
  if (now) return { type: before ? 'MODIFIED' : 'ADDED', object };
  return { type: 'DELETED', object };
}

/** Returns the last matching state of the object, with the revision of the change that ended the match. */
function lastMatching(change: StorageChange): KubeObject {
  if (change.type === 'DELETED' || change.previous === undefined) return change.object;
  const metadata = { ...change.previous.metadata, resourceVersion: String(change.revision) };
  return { ...change.previous, metadata };
}

function bookmarkEvent(type: ResourceType, revision: number, annotations?: JsonObject): WatchEvent {
  const marked = annotations === undefined ? {} : { annotations };
  const metadata = { resourceVersion: String(revision), ...marked };
  return { type: 'BOOKMARK', object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata } };
}

function tooOld(from: number, oldest: number): JsonObject {
  return statusOf(expired(`too old resource version: ${from} (${oldest})`)) ?? {};
}

// Determines which declared tool locks apply to a server, and the faults of the other locks. A lock must be in the same
// source as its server.

import { TOOLS_LOCK_ANNOTATION } from '#contracts/tool-lock/schema.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { withDigest } from '#std/address/image-name.ts';
import { isObject } from '#std/json.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import { openViews } from '../observe/view.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';

export interface LocksInput {
  readonly locks: readonly Sourced[];
  readonly loaded: readonly Sourced[];
  readonly invalid: readonly ResourceId[];
}

export interface CheckedLocks {
  /** Locks that apply to a server, for views. */
  readonly objects: readonly KubeObject[];
  readonly problems: readonly Problem[];
}

export function checkLocks({ locks, loaded, invalid }: LocksInput): CheckedLocks {
  if (locks.length === 0) return { objects: [], problems: [] };
  const broken = new Set(invalid.map(keyOf));
  const servers = new Map(loaded.map((each) => [serverKey(each.id.kind, each.id), each]));
  const checked = locks
    .filter(({ id }) => !broken.has(keyOf(id)))
    .map((lock) => ({ lock, findings: findingsOf(lock, servers.get(serverKey(lockedKind(lock), lock.id))) }));
  return {
    objects: checked.flatMap(({ lock, findings }) => (findings.some(refuses) ? [] : [lock.object])),
    problems: checked.flatMap(({ lock, findings }) => findings.map((finding) => problemOf(lock, finding))),
  };
}

function serverKey(kind: string, { namespace, name }: Pick<ResourceId, 'namespace' | 'name'>): string {
  return `${namespace ?? ''}/${kind}/${name}`;
}

function lockedKind({ object }: Sourced): string {
  const server = isObject(object.spec) ? object.spec.server : undefined;
  return isObject(server) && typeof server.kind === 'string' ? server.kind : '';
}

function findingsOf(lock: Sourced, server: Sourced | undefined): readonly Finding[] {
  const { id } = lock;
  const kind = lockedKind(lock);
  if (server === undefined) {
    const message = `no ${kind} "${id.name}" in namespace ${id.namespace}: name the lock after its server, in the namespace of the server, or delete the lock`;
    return [{ code: 'lock-server-missing', severity: 'error', pointer: '/metadata/name', message }];
  }
  if (server.byHand !== true && server.source !== lock.source) {
    const message = `${kind} "${id.name}" is declared by source ${server.source}, and source ${lock.source} may not lock its tools: move the lock there`;
    return [{ code: 'lock-other-source', severity: 'error', pointer: '/metadata/name', message }];
  }
  return [...idleFindings(lock, server), ...placeFindings(lock, server)];
}

function refuses({ severity }: Finding): boolean {
  return severity === 'error';
}

function idleFindings({ id }: Sourced, { object }: Sourced): readonly Finding[] {
  const mode = object.metadata.annotations?.[TOOLS_LOCK_ANNOTATION] ?? 'off';
  if (mode !== 'off') return [];
  const message = `the lock has no effect: set the annotation ${TOOLS_LOCK_ANNOTATION} of ${object.kind} "${id.name}" to enforce or report`;
  return [{ code: 'lock-idle', severity: 'warning', pointer: '/spec/server/kind', message }];
}

/**
 * Warns if the image or URL in the lock is not the current image or URL of the server: the tool definitions may differ.
 */
function placeFindings({ object }: Sourced, server: Sourced): readonly Finding[] {
  const locked = isObject(object.spec) && isObject(object.spec.server) ? object.spec.server : {};
  return Object.entries(offeredServer(server) ?? {}).flatMap(([field, now]): readonly Finding[] => {
    const before = locked[field];
    if (typeof before !== 'string' || typeof now !== 'string' || before === now) return [];
    // A manifest may name the locked image together with its digest.
    if (field === 'image' && typeof locked.digest === 'string' && withDigest(before, locked.digest) === now) return [];
    const message = `the definitions belong to ${before}, and the manifest names ${now}: compare them with skep lock --diff once it runs`;
    return [{ code: 'lock-place-differs', severity: 'warning', pointer: `/spec/server/${field}`, message }];
  });
}

/** Returns the image or URL of a server; undefined for other kinds, and for invalid resources. */
export function offeredServer({ id, kind, defaulted }: Pick<LoadedResource, 'id' | 'kind' | 'defaulted'>) {
  const view = openViews({ apiGroup: '', layers: [] })(id.namespace ?? '');
  const [endpoint] = (defaulted && kind?.exposes(defaulted, view)) ?? [];
  return endpoint?.offer.type === 'server' ? endpoint.offer.server : undefined;
}

// What lives: each kind is listed at most once per snapshot, whoever asks first. Knows nothing about what is desired.

import { groupOf, idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { ResourceId } from '../../std/problem.ts';
import type { ApiResource, Cluster } from '../ports.ts';

export interface Snapshot {
  /** Makes sure that the kinds are listed; kinds that the server does not serve are skipped. */
  ensure(kinds: Iterable<GroupKind>): Promise<void>;
  /** Lists the kind in this version, where it is not listed yet: live objects are compared in the version that is declared. */
  listAs(resource: ApiResource): void;
  find(id: ResourceId): KubeObject | undefined;
  /** Everything listed so far. */
  objects(): readonly KubeObject[];
  /** False where the kind was not listed, or its LIST failed: then nothing is known about its objects. */
  known(kind: GroupKind): boolean;
  served(kind: GroupKind): ApiResource | undefined;
  /** Kinds of which a LIST failed, by name: what is not known of them may be there all the same. */
  unlisted(): ReadonlySet<string>;
  /** LISTs that failed, with what the server said. */
  failures(): readonly Failure[];
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export function groupKindOf(id: { readonly apiVersion: string; readonly kind: string }): GroupKind {
  return { group: groupOf(id.apiVersion), kind: id.kind };
}

/** `Kind.group`, or `Kind` of the core group: as kubectl writes it. */
export function formatGroupKind({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

export function parseGroupKind(text: string): GroupKind {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', kind: text } : { kind: text.slice(0, dot), group: text.slice(dot + 1) };
}

/** `namespaces` undefined: the whole cluster. Reads discovery at once and lists on demand. */
export async function openSnapshot(cluster: Cluster, namespaces: readonly string[] | undefined): Promise<Snapshot> {
  const served = new Map<string, ApiResource>();
  for (const resource of await cluster.resources()) {
    const name = formatGroupKind(groupKindOf(resource));
    if (!served.has(name)) served.set(name, resource);
  }
  const listed = new Map<string, Promise<boolean>>();
  const known = new Set<string>();
  const objects = new Map<string, KubeObject>();
  const failures: Failure[] = [];
  const unlisted = new Set<string>();

  async function list(name: string, resource: ApiResource): Promise<boolean> {
    try {
      const scopes = resource.namespaced && namespaces !== undefined ? namespaces : [undefined];
      for (const found of await Promise.all(scopes.map((scope) => cluster.list(resource, scope)))) {
        for (const object of found) objects.set(keyOf(idOf(object)), object);
      }
      known.add(name);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      unlisted.add(resource.kind);
      return false;
    }
  }

  return {
    async ensure(kinds) {
      await Promise.all(
        [...kinds].map((kind) => {
          const name = formatGroupKind(kind);
          const resource = served.get(name);
          const running = listed.get(name);
          if (resource === undefined || running !== undefined) return running;
          const started = list(name, resource);
          listed.set(name, started);
          return started;
        }),
      );
    },
    listAs(resource) {
      const name = formatGroupKind(groupKindOf(resource));
      if (!listed.has(name)) served.set(name, resource);
    },
    find: (id) => objects.get(keyOf(id)),
    objects: () => [...objects.values()],
    known: (kind) => known.has(formatGroupKind(kind)),
    served: (kind) => served.get(formatGroupKind(kind)),
    unlisted: () => unlisted,
    failures: () => failures,
  };
}

// Reads the state of the cluster from which statuses are computed.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import type { InstanceName, OwnKinds, Permissions, Rendering } from '../instance.ts';
import { applySetId, labelOf, PART_OF } from '../labels.ts';
import { readDeclared } from '../observe/needed.ts';
import { scopeOf } from '../observe/scope.ts';
import { type GroupKind, openSnapshot, type Snapshot } from '../observe/snapshot.ts';
import { openViews } from '../observe/view.ts';
import type { Cluster } from '../ports.ts';
import type { Gathered } from '../read/gather.ts';
import type { ObservedState, Owned } from './settle.ts';
import { listTroubledPods } from './troubled-pods.ts';

interface ObserveDeps {
  readonly cluster: Cluster;
}

type ObserveOptions = InstanceName & OwnKinds;

export async function openObservedState(
  { cluster }: ObserveDeps,
  options: ObserveOptions,
  { snapshot, locks }: Pick<ObservedBefore, 'snapshot' | 'locks'>,
): Promise<ObservedState> {
  const pods = await listTroubledPods(cluster, snapshot, applySetId(options.instance, options.homeNamespace));
  const views = openViews({ apiGroup: options.apiGroup, layers: [snapshot.objects()], pods, locks });
  const own = ownedObjects(options, snapshot);
  const isDeparting = ({ object }: Owned) => object.metadata.deletionTimestamp !== undefined;
  const [departing, owned] = [own.filter(isDeparting), own.filter((each) => !isDeparting(each))];
  return { living: snapshot.find, views, unlisted: snapshot.unlisted(), departing, owned };
}

function ownedObjects(
  { apiGroup, kinds, instance, homeNamespace }: ObserveOptions,
  snapshot: Snapshot,
): readonly Owned[] {
  const applySet = applySetId(instance, homeNamespace);
  return snapshot.objects().flatMap((object) => {
    if (groupOf(object.apiVersion) !== apiGroup || labelOf(object, PART_OF) !== applySet) return [];
    const kind = kinds.find((each) => each.kind === object.kind);
    return kind === undefined ? [] : [{ kind, object }];
  });
}

interface ObservedBefore {
  readonly watched: readonly GroupKind[];
  readonly snapshot: Snapshot;
  readonly gathered: Pick<Gathered, 'loaded'>;
  /** Tool locks that apply to a declared server. */
  readonly locks: readonly KubeObject[];
}

/** Lists the state again. */
export async function listObservedState(
  deps: ObserveDeps,
  options: ObserveOptions & Pick<Permissions, 'namespaces'> & Pick<Rendering, 'settings'>,
  { watched, snapshot: before, gathered, locks }: ObservedBefore,
): Promise<ObservedState> {
  const snapshot = await openSnapshot(deps.cluster, {
    namespaces: scopeOf(options.namespaces).names,
    applySet: applySetId(options.instance, options.homeNamespace),
    before,
  });
  snapshot.declare(gathered.loaded.map(({ object }) => object));
  await snapshot.ensure(watched);
  // Objects that were missing before may exist now. Statuses report whether their keys exist.
  await readDeclared(options, snapshot, gathered.loaded);
  return openObservedState(deps, options, { snapshot, locks });
}

/**
 * Returns the seconds to wait for readiness: 0 if the run could not read all objects, because such a run has already
 * failed.
 */
export function waitSecondsOf(
  { waitSeconds }: { readonly waitSeconds: number },
  { snapshot }: { readonly snapshot: Pick<Snapshot, 'failures'> },
): number {
  return snapshot.failures().length === 0 ? waitSeconds : 0;
}

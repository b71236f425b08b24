// Reads one resource for the console: its manifest, and its conditions, objects, pods and differences from the cluster.
// Values of Secrets and of encrypted documents are masked.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import type { Desired } from '../desire/desire.ts';
import type { Compared } from '../diff/compared.ts';
import { diff } from '../diff/diff.ts';
import { maskValues } from '../diff/masked.ts';
import type { InstanceName, Permissions } from '../instance.ts';
import { applySetId, fieldManager } from '../labels.ts';
import { liveStateOf } from '../observe/live-state.ts';
import { readMergeTypes } from '../observe/merge-types.ts';
import type { Cluster, PodReads } from '../ports.ts';
import type { Sourced } from '../read/sourced.ts';
import type { RunResult } from '../result.ts';
import type { ConsoleCondition, DetailedObject, LiveDetail } from './detail-format.ts';
import type { ShownOffer } from './offer-format.ts';
import { detailedPod } from './pods/detailed-pod.ts';
import { eventsAbout } from './pods/events.ts';
import { listPods } from './pods/find-pods.ts';

/** Facts about one resource from the last run. They need no request. */
export interface KnownResource {
  readonly id: ResourceId;
  /** Absent if no source declares the resource any more. */
  readonly loaded?: Sourced;
  /** The resource and its children. */
  readonly desired: readonly Desired[];
  readonly problems: readonly Problem[];
  readonly outcomes: RunResult['outcomes'];
  /** Set if the resource serves clients. */
  readonly offer?: ShownOffer;
}

/** Maximum number of objects that are read, with one request each. Further objects are only counted. */
const OBJECTS_MAX = 40;

/** Returns the live part of a resource. Throws Failure as the methods of `Cluster` do. */
export async function readLiveDetail(
  cluster: ReadCluster,
  options: InstanceName & Pick<Permissions, 'conflicts'>,
  { id, loaded, desired }: KnownResource,
): Promise<LiveDetail> {
  const read = desired.slice(0, OBJECTS_MAX);
  const ids = read.length === 0 ? [id] : read.map((each) => each.id);
  const [typeOf, found, listed] = await Promise.all([
    readMergeTypes(cluster, ids),
    Promise.all(ids.map((each) => cluster.get(each))),
    readEvents(cluster, id.namespace),
  ]);
  const live = new Map(found.flatMap((object) => (object === undefined ? [] : [[keyOf(idOf(object)), object]])));
  const { compared } = diff({
    desired: read,
    living: (each) => live.get(keyOf(each)),
    live: [],
    typeOf,
    manager: fieldManager(options.instance),
    applySet: applySetId(options.instance, options.homeNamespace),
    force: options.conflicts === 'force',
  });
  const shown = loaded?.sealed === true ? compared.map(withoutValues) : compared;
  const objects = await Promise.all(shown.map((each) => detailedObject(cluster, each)));
  const pods = objects.flatMap((each) => (each.pods ?? []).map(({ name }) => ({ kind: 'Pod', name })));
  const { events, ...eventsUnread } = listed;
  return {
    conditions: conditionsOf(live.get(keyOf(id))),
    objects,
    omitted: desired.length - read.length,
    events: eventsAbout([...ids, ...pods], events),
    ...eventsUnread,
  };
}

type ReadCluster = Pick<Cluster, 'get' | 'list' | 'schema' | 'resources'> & {
  readonly podReads: Pick<PodReads, 'events'>;
};

/** Reads the Events of a namespace. The rest of the resource is shown also if they cannot be read. */
async function readEvents({ podReads }: Pick<ReadCluster, 'podReads'>, namespace: string | undefined) {
  if (namespace === undefined) return { events: [] };
  try {
    const { events, complete } = await podReads.events(namespace);
    if (complete) return { events };
    return { events, eventsUnread: `the namespace has more than the ${events.length} Events that were read` };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { events: [], eventsUnread: error.message };
  }
}

/** Masks all values. Any object of an encrypted document may contain encrypted values, whatever its kind is. */
function withoutValues(compared: Compared): Compared {
  return { ...compared, diff: compared.diff.map(maskValues) };
}

async function detailedObject(
  cluster: Pick<Cluster, 'list' | 'resources'>,
  compared: Compared,
): Promise<DetailedObject> {
  const { desired, live, diff: differences, fields = [] } = compared;
  const id = formatId(desired.id);
  if (live === undefined)
    return { id, state: 'missing', why: 'It is not in the cluster.', differences: [], fields: [] };
  const { ready, why } = liveStateOf(live);
  // The manifest lacks generated random values, so each of them would be a difference.
  const shown = desired.random === undefined ? differences : [];
  const pods = (await listPods(cluster, live))?.map(detailedPod);
  return {
    id,
    state: ready ? 'ready' : 'not-ready',
    why,
    differences: shown,
    fields: fields.map(({ path, manager, state }) => ({ path, manager, state })),
    ...(compared.result === 'unknown' ? { uncertain: true as const } : {}),
    ...(pods && { pods }),
  };
}

function conditionsOf(live: KubeObject | undefined): readonly ConsoleCondition[] {
  const { conditions } = isObject(live?.status) ? live.status : {};
  return (Array.isArray(conditions) ? conditions : []).filter(isObject).map((each) => ({
    type: conditionText(each.type),
    status: conditionText(each.status),
    reason: conditionText(each.reason),
    message: conditionText(each.message),
    since: conditionText(each.lastTransitionTime),
  }));
}

function conditionText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

const MASK = '***';

/** Returns the manifest as its author wrote it. Values of Secrets and of encrypted documents are masked. */
export function shownManifest({ object, id, sealed }: Sourced): JsonObject {
  if (id.kind !== 'Secret' && sealed !== true) return object;
  const { apiVersion, kind, metadata, ...rest } = object;
  const { annotations: _annotations, ...shown } = metadata;
  // The field `type` of a Secret is not masked. A value under the key `type` of its data is masked.
  const { type } = rest;
  const typed = id.kind === 'Secret' && typeof type === 'string' ? { type } : {};
  return { apiVersion, kind, metadata: shown, ...masked(rest), ...typed };
}

function masked(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isObject(value) ? masked(value) : MASK]),
  );
}

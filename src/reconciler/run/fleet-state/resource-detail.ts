// Reads one resource for the console: its manifest, and its conditions, objects, pods and differences from the cluster.
// Values of Secrets and of encrypted documents are masked.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
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
import { podLabelsOf } from '../observe/view.ts';
import type { Cluster } from '../ports.ts';
import type { Sourced } from '../read/sourced.ts';
import type { RunResult } from '../result.ts';
import type { ConsoleCondition, DetailedObject, DetailedPod, LiveDetail } from './detail-format.ts';
import { detailedPod } from './detailed-pod.ts';

/** Facts about one resource from the last run. They need no request. */
export interface KnownResource {
  readonly id: ResourceId;
  /** Absent if no source declares the resource any more. */
  readonly loaded?: Sourced;
  /** The resource and its children. */
  readonly desired: readonly Desired[];
  readonly problems: readonly Problem[];
  readonly outcomes: RunResult['outcomes'];
}

/** Maximum number of objects that are read, with one request each. Further objects are only counted. */
const OBJECTS_MAX = 40;

/** Returns the live part of a resource. Throws Failure as the methods of `Cluster` do. */
export async function readLiveDetail(
  cluster: Pick<Cluster, 'get' | 'list' | 'schema' | 'resources'>,
  options: InstanceName & Pick<Permissions, 'conflicts'>,
  { id, loaded, desired }: KnownResource,
): Promise<LiveDetail> {
  const read = desired.slice(0, OBJECTS_MAX);
  const ids = read.length === 0 ? [id] : read.map((each) => each.id);
  const [typeOf, found] = await Promise.all([
    readMergeTypes(cluster, ids),
    Promise.all(ids.map((each) => cluster.get(each))),
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
  return { conditions: conditionsOf(live.get(keyOf(id))), objects, omitted: desired.length - read.length };
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
  const pods = await podsOf(cluster, live);
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

async function podsOf(
  cluster: Pick<Cluster, 'list' | 'resources'>,
  workload: KubeObject,
): Promise<readonly DetailedPod[] | undefined> {
  const { kind, metadata } = workload;
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return undefined;
  const pod = (await cluster.resources()).find((each) => each.kind === 'Pod' && each.apiVersion === 'v1');
  const labels = podLabelsOf(workload);
  if (pod === undefined || labels.length === 0) return undefined;
  const selector = labels.map(([label, value]) => `${label}=${String(value)}`).join(',');
  return (await cluster.list(pod, metadata.namespace, { selector })).map(detailedPod);
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

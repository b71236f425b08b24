// How an instance is right now, for whoever is on call: what differs from Git, what is held and since when, what its
// resources say of themselves, and who works on it. Only reads: of the cluster no more than its lists and a few records.

import { groupOf, idOf, type KubeObject, keyOf } from '../kube/object.ts';
import { isObject, type Json } from '../std/json.ts';
import { formatId, type Problem } from '../std/problem.ts';
import type { RunRecord } from './history/ports.ts';
import { applySetId, labelOf, PART_OF } from './labels.ts';
import { holderOf, look } from './lock.ts';
import type { Change } from './plan.ts';
import type { Cluster } from './ports.ts';
import type { Quarantined } from './quarantine.ts';
import { stateOf, toldState } from './readiness.ts';
import { leaseId, planned, type RunDeps, type RunOptions } from './reconcile.ts';
import type { Paused, RunResult } from './result.ts';
import { readSuspension } from './suspension.ts';

export interface StatusDeps extends RunDeps {
  /** Newest first. */
  readonly history: readonly RunRecord[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since?: string;
}

export interface Troubled {
  /** `namespace/Kind/name`, here and below. */
  readonly resource: string;
  readonly phase?: string;
  /** Those that are not as they should be. */
  readonly conditions: readonly Condition[];
}

/** `since`: when a run first told it, in a row up to the last; RFC 3339. Absent where no run has. */
export interface Since {
  readonly since?: string;
}

export interface InstanceStatus {
  readonly instance: string;
  /** RFC 3339. */
  readonly at: string;
  readonly commits: Readonly<Record<string, string>>;
  readonly quarantined: readonly Quarantined[];
  /** Why no run writes anything now. */
  readonly paused?: Paused;
  /** What the next run would do. */
  readonly outOfSync: readonly ({
    readonly action: 'create' | 'update' | 'delete';
    readonly resource: string;
  } & Since)[];
  /** Where only a dry run could tell whether something differs. */
  readonly uncertain: readonly string[];
  readonly held: readonly ({ readonly resource: string; readonly reason: string } & Since)[];
  readonly approval?: {
    readonly hash: string;
    readonly reasons: readonly string[];
    readonly deletions: readonly string[];
  } & Since;
  readonly problems: readonly (Problem & Since)[];
  readonly failures: RunResult['failures'];
  readonly resources: { readonly ready: number; readonly total: number };
  readonly troubled: readonly Troubled[];
  /** The last run that is in the history. */
  readonly lastRun?: RunRecord;
  readonly lock?: { readonly holder: string; readonly renewedAt: string };
}

/** `closed`: what the sync windows say. Throws Failure where the cluster cannot be asked at all. */
export async function statusOf(
  deps: StatusDeps,
  options: RunOptions,
  closed: Paused | undefined,
): Promise<InstanceStatus> {
  const { history, clock } = deps;
  const asked = new Set<string>();
  const reading = { ...deps, cluster: withoutDryRuns(deps.cluster, asked) };
  const [{ result, prepared }, lease, suspension] = await Promise.all([
    planned(reading, options),
    look(deps, leaseId(options)),
    readSuspension(deps.cluster, options),
  ]);
  const paused: Paused | undefined = suspension === undefined ? closed : { by: 'suspension', ...suspension };
  const holder = holderOf(lease);
  const [lastRun] = history;
  return {
    instance: options.instance,
    at: new Date(clock.now()).toISOString(),
    commits: result.commits,
    quarantined: result.quarantined,
    ...(paused === undefined ? {} : { paused }),
    ...differencesOf(result, asked, history),
    problems: result.problems.map((problem) => ({ ...problem, ...sinceProblem(history, problem) })),
    failures: result.failures,
    ...resourcesOf(ourResources(options, prepared.snapshot.objects()), options.children),
    ...(lastRun === undefined ? {} : { lastRun }),
    ...(holder === undefined ? {} : { lock: holder }),
  };
}

/** What would have been asked is noted by its key, and taken for changed. */
function withoutDryRuns(cluster: Cluster, asked: Set<string>): Cluster {
  return {
    ...cluster,
    async apply(object) {
      asked.add(keyOf(idOf(object)));
      return object;
    },
  };
}

function differencesOf(
  { plan }: RunResult,
  asked: ReadonlySet<string>,
  history: readonly RunRecord[],
): Pick<InstanceStatus, 'outOfSync' | 'uncertain' | 'held' | 'approval'> {
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const isUncertain = ({ action, key, diff }: Change) => action === 'update' && diff.length === 0 && asked.has(key);
  const certain = changes.filter((change) => !isUncertain(change));
  const { guarded } = plan;
  return {
    outOfSync: certain.map(({ action, resource }) => {
      const id = formatId(resource);
      return {
        action,
        resource: id,
        ...sinceIn(history, ({ outcomes }) =>
          outcomes.some((each) => each.resource === id && each.action === 'failed'),
        ),
      };
    }),
    uncertain: changes.filter(isUncertain).map(({ resource }) => formatId(resource)),
    held: plan.held.map(({ resource, reason }) => {
      const id = formatId(resource);
      return { resource: id, reason, ...sinceIn(history, ({ held }) => held.some((each) => each.resource === id)) };
    }),
    ...(guarded === undefined
      ? {}
      : {
          approval: {
            hash: guarded.hash,
            reasons: guarded.reasons,
            deletions: guarded.deletions.map(({ id }) => id),
            ...sinceIn(history, ({ approval }) => approval?.hash === guarded.hash),
          },
        }),
  };
}

function sinceProblem(history: readonly RunRecord[], { code, resource, place }: Problem): Since {
  const id = resource === undefined ? undefined : formatId(resource);
  return sinceIn(history, ({ problems }) =>
    problems.some(
      (each) => each.code === code && (id === undefined ? each.file === place?.file : each.resource === id),
    ),
  );
}

/** When the oldest of the newest runs in a row ended that tell it. */
function sinceIn(history: readonly RunRecord[], tells: (record: RunRecord) => boolean): Since {
  const end = history.findIndex((record) => !tells(record));
  const first = history[(end < 0 ? history.length : end) - 1];
  return first === undefined ? {} : { since: first.finishedAt };
}

function ourResources(
  { instance, homeNamespace, kinds, apiGroup }: RunOptions,
  objects: readonly KubeObject[],
): readonly KubeObject[] {
  const applySet = applySetId(instance, homeNamespace);
  const names = new Set(kinds.map(({ kind }) => kind));
  return objects.filter(
    (object) =>
      names.has(object.kind) && groupOf(object.apiVersion) === apiGroup && labelOf(object, PART_OF) === applySet,
  );
}

function resourcesOf(objects: readonly KubeObject[], ours: boolean): Pick<InstanceStatus, 'resources' | 'troubled'> {
  const unwell = objects.filter((object) => {
    const { status } = object;
    if (!ours) return toldState(object) !== 'ready';
    return !isObject(status) || stateOf(status) !== 'ready';
  });
  return {
    resources: { ready: objects.length - unwell.length, total: objects.length },
    troubled: unwell.map(troubledOf).sort((a, b) => (a.resource < b.resource ? -1 : 1)),
  };
}

function troubledOf(object: KubeObject): Troubled {
  const { phase, conditions } = isObject(object.status) ? object.status : {};
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return {
    resource: formatId(idOf(object)),
    ...(typeof phase === 'string' ? { phase } : {}),
    conditions: list
      .filter(({ type, status }) => (status === 'True') === WARNINGS.has(textOf(type)))
      .map(({ type, status, reason, message, lastTransitionTime: since }) => ({
        type: textOf(type),
        status: textOf(status),
        reason: textOf(reason),
        message: textOf(message),
        ...(typeof since === 'string' ? { since } : {}),
      })),
  };
}

/** Conditions of ours that are bad where they are true. */
const WARNINGS: ReadonlySet<string> = new Set([
  'Degraded',
  'DeletionBlocked',
  'ReplicaFailure',
  'SessionStorageWarning',
  'StdioReplicaCapped',
]);

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

// Reads the current state of an instance: differences from Git, objects that are kept unchanged, statuses of resources,
// and the holder of the Lease. It sends no dry runs.

import { keyOfObject } from '#kubernetes/rules/object.ts';
import type { Failure } from '#std/failure.ts';
import { formatId, type Problem } from '#std/problem.ts';
import { holderOf, type LeaseHolder, leaseId, readLease } from '../apply/lock.ts';
import type { RunRecord } from '../history/ports.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Change, Plan } from '../plan/plan.ts';
import type { Wait } from '../plan/waits.ts';
import type { Cluster } from '../ports.ts';
import type { DeletionList } from '../prune/guard.ts';
import { ownerOf } from '../prune/may-delete.ts';
import type { Quarantined } from '../records/quarantine.ts';
import { readSuspension } from '../records/suspension.ts';
import type { Paused, RunResult } from '../result.ts';
import { planInstance, type RunDeps, type RunOptions } from '../run.ts';
import { ourResources, type ResourcesStatus, resourcesOf } from './resources-status.ts';

export interface StatusDeps extends RunDeps {
  /** Runs of the history, newest first. */
  readonly history: readonly RunRecord[];
}

/**
 * Start of an uninterrupted series of runs that report a fact: the end of its first run, in RFC 3339. Absent if the
 * latest run did not report the fact.
 */
export interface Since {
  readonly since?: string;
}

export interface InstanceStatus extends ResourcesStatus {
  readonly instance: string;
  /** Time in RFC 3339. */
  readonly at: string;
  /** False if the cluster did not respond. All other facts about the cluster are then unknown. */
  readonly reached: boolean;
  readonly commits: Readonly<Record<string, string>>;
  readonly quarantined: readonly Quarantined[];
  readonly waits: readonly Wait[];
  /** Reason why runs currently write nothing; absent if runs may write. */
  readonly paused?: Paused;
  /** Changes that the next run would make. */
  readonly outOfSync: readonly ({
    readonly action: 'create' | 'update' | 'delete';
    readonly resource: string;
    readonly owner?: string;
    /** Paths of the fields that differ; only for an update. */
    readonly fields?: readonly string[];
  } & Since)[];
  /** Objects for which only a dry run could show whether they differ. */
  readonly uncertain: readonly string[];
  /**
   * Declared fields with a value of another manager. A `kept` field differs from Git. A `left` field may differ from
   * Git, as its manifest allows.
   */
  readonly fields: readonly {
    readonly resource: string;
    readonly path: string;
    readonly manager: string;
    readonly state: 'kept' | 'left';
  }[];
  readonly held: readonly ({ readonly resource: string; readonly reason: string } & Since)[];
  readonly approvals: readonly ({
    readonly source: string;
    readonly hash: string;
    readonly reasons: readonly string[];
    readonly deletions: readonly string[];
    /** Deletions in the list that follow from the deletion of their owner. */
    readonly following: readonly string[];
  } & Since)[];
  readonly problems: readonly (Problem & Since)[];
  readonly failures: RunResult['failures'];
  /** Last run in the history. */
  readonly lastRun?: RunRecord;
  readonly lock?: LeaseHolder;
}

/** Returns the status. `closed` is the pause by sync windows. Throws Failure if the cluster does not respond at all. */
export async function readInstanceStatus(
  deps: StatusDeps,
  options: RunOptions,
  closed: Paused | undefined,
): Promise<InstanceStatus> {
  const { history, clock } = deps;
  const asked = new Set<string>();
  const reading = { ...deps, cluster: withoutDryRuns(deps.cluster, asked) };
  const [{ result, prepared }, lease, suspension] = await Promise.all([
    planInstance(reading, options),
    readLease(deps, leaseId(options)),
    readSuspension(deps.cluster, options),
  ]);
  const paused: Paused | undefined = suspension === undefined ? closed : { by: 'suspension', ...suspension };
  const now = clock.now();
  const holder = holderOf(lease, now);
  const [lastRun] = history;
  return {
    instance: options.instance,
    at: new Date(now).toISOString(),
    reached: true,
    commits: result.commits,
    quarantined: result.quarantined,
    waits: result.waits,
    paused,
    fields: result.fields.flatMap(({ resource, path, manager, state }) =>
      state === 'set-back' ? [] : [{ resource: formatId(resource), path, manager, state }],
    ),
    ...differencesOf(result, prepared.snapshot, asked, history),
    problems: result.problems.map((problem) => ({ ...problem, ...sinceProblem(history, problem) })),
    failures: result.failures,
    ...resourcesOf(ourResources(options, prepared.snapshot.objects()), options.children),
    lastRun,
    lock: holder,
  };
}

/**
 * Returns the status if the cluster does not respond: the failures, and the last run if the history is stored outside
 * the cluster.
 */
export function unknownStatus(
  { history, clock }: Pick<StatusDeps, 'history' | 'clock'>,
  { instance }: Pick<RunOptions, 'instance'>,
  failures: readonly Failure[],
): InstanceStatus {
  const [lastRun] = history;
  return {
    instance,
    at: new Date(clock.now()).toISOString(),
    reached: false,
    commits: {},
    quarantined: [],
    waits: [],
    outOfSync: [],
    uncertain: [],
    fields: [],
    held: [],
    approvals: [],
    problems: [],
    failures,
    resources: { ready: 0, total: 0 },
    troubled: [],
    lastRun,
  };
}

/**
 * Returns a cluster that sends no dry runs. It records the key of each object of a suppressed dry run in `asked`, and
 * returns the object unchanged.
 */
function withoutDryRuns(cluster: Cluster, asked: Set<string>): Cluster {
  return {
    ...cluster,
    async apply(object) {
      asked.add(keyOfObject(object));
      return object;
    },
  };
}

function differencesOf(
  { plan }: RunResult,
  snapshot: Pick<Snapshot, 'find'>,
  asked: ReadonlySet<string>,
  history: readonly RunRecord[],
): Pick<InstanceStatus, 'outOfSync' | 'uncertain' | 'held' | 'approvals'> {
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const isUncertain = ({ action, key, diff }: Change) => action === 'update' && diff.length === 0 && asked.has(key);
  const certain = changes.filter((change) => !isUncertain(change));
  return {
    outOfSync: certain.map((change) => {
      const { action, resource } = change;
      const id = formatId(resource);
      const owner = action === 'delete' ? ownerOf(snapshot.find(resource)) : change.owner;
      return {
        action,
        resource: id,
        owner: owner && formatId(owner),
        fields: action === 'update' ? change.diff.map(({ path }) => path) : undefined,
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
    approvals: plan.waiting.map((list) => ({
      source: list.source,
      hash: list.hash,
      reasons: list.reasons,
      ...deletionsOf(plan, list, snapshot),
      ...sinceIn(history, ({ approvals = [] }) => approvals.some(({ hash }) => hash === list.hash)),
    })),
  };
}

function deletionsOf({ held }: Plan, { deletions }: DeletionList, snapshot: Pick<Snapshot, 'find'>) {
  const ids = deletions.map(({ id }) => id);
  const waiting = new Set(ids);
  const following = held.flatMap(({ resource }) => {
    const owner = ownerOf(snapshot.find(resource));
    const id = formatId(resource);
    return owner !== undefined && waiting.has(id) && waiting.has(formatId(owner)) ? [id] : [];
  });
  return { deletions: ids, following };
}

function sinceProblem(history: readonly RunRecord[], { code, resource, place }: Problem): Since {
  const id = resource === undefined ? undefined : formatId(resource);
  return sinceIn(history, ({ problems }) =>
    problems.some(
      (each) => each.code === code && (id === undefined ? each.file === place?.file : each.resource === id),
    ),
  );
}

/** Returns the end of the oldest run in the unbroken series of newest runs for which `tells` returns true. */
function sinceIn(history: readonly RunRecord[], tells: (record: RunRecord) => boolean): Since {
  const end = history.findIndex((record) => !tells(record));
  const first = history[(end < 0 ? history.length : end) - 1];
  return first === undefined ? {} : { since: first.finishedAt };
}

// Reads the children back into phases and conditions, and writes each status that changed.
// Knows nothing about what a status says but its `Ready` condition and `phase`.

import type { CatalogueState } from '../contracts/catalogue-state.ts';
import type { Resource, View } from '../kinds/kind.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import { Failure } from '../std/failure.ts';
import { isObject, type JsonObject, jsonEquals } from '../std/json.ts';
import { formatId, type ResourceId } from '../std/problem.ts';
import type { Clock, Cluster } from './ports.ts';
import type { Standing } from './resolve.ts';

/** The cluster at one moment. */
export interface Sight {
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly views: (namespace: string) => View;
  /** False where a LIST failed: what is not seen may live all the same, so no status is written from it. */
  readonly complete: boolean;
}

export interface SettleInput {
  readonly standings: readonly Standing[];
  /** Why each resource's children are not as they should be, by the key of the resource. */
  readonly childErrors: ReadonlyMap<string, readonly string[]>;
  /** By `namespace/name` of the registry. */
  readonly catalogue: ReadonlyMap<string, CatalogueState>;
}

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
}

/** How far the resources are, by `Ready` and `phase`. */
export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly ResourceId[];
  readonly failed: readonly ResourceId[];
}

export interface Settlement {
  readonly changes: readonly StatusChange[];
  readonly readiness: Readiness;
}

/** What each status should be now. Pure: the writing is `writeStatuses`. */
export function judge(input: SettleInput, sight: Sight, now: string): Settlement {
  const changes: StatusChange[] = [];
  const ready: ResourceId[] = [];
  const progressing: ResourceId[] = [];
  const failed: ResourceId[] = [];
  for (const { loaded, verdict, findings } of input.standings) {
    const { id, kind } = loaded;
    const found = sight.living(id);
    if (kind === undefined || verdict === 'held' || found === undefined || !isObject(found.spec)) continue;
    const live = resourceFrom(found, found.spec);
    const catalogue = input.catalogue.get(`${id.namespace ?? ''}/${id.name}`);
    const status = kind.status(live, {
      view: sight.views(id.namespace ?? ''),
      refusals: findings.filter((finding) => finding.severity === 'error'),
      failures: input.childErrors.get(keyOf(id)) ?? [],
      ...(catalogue === undefined ? {} : { catalogue }),
      now,
    });
    if (sight.complete && !jsonEquals(status, live.status)) changes.push({ id, live, status });
    const state = stateOf(status);
    if (state !== 'degraded') ({ ready, progressing, failed })[state].push(id);
  }
  return { changes, readiness: { ready, progressing, failed } };
}

export interface SettleDeps {
  readonly cluster: Pick<Cluster, 'apply'>;
}

/** Writes the statuses; one Failure `status-not-written` for each that could not be. */
async function writeStatuses(deps: SettleDeps, changes: readonly StatusChange[]): Promise<readonly Failure[]> {
  const results = await Promise.all(changes.map((change) => writeStatus(deps, change)));
  return results.filter((result) => result !== undefined);
}

async function writeStatus(deps: SettleDeps, { id, live, status }: StatusChange): Promise<Failure | undefined> {
  const { name, namespace, uid } = live.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
  try {
    const object = { apiVersion: id.apiVersion, kind: id.kind, metadata, status };
    await deps.cluster.apply(object, { subresource: 'status', force: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return new Failure('status-not-written', `status of ${formatId(id)}: ${error.message}`, { cause: error });
  }
}

/** Polls until everything is ready or has failed, or the deadline (monotonic) passed. One LIST per kind per poll. */
export async function settle(
  deps: SettleDeps & { readonly clock: Clock },
  input: SettleInput,
  first: Sight,
  look: () => Promise<Sight>,
  deadline: number,
): Promise<{ readonly readiness: Readiness; readonly failures: readonly Failure[] }> {
  let sight = first;
  for (;;) {
    const { changes, readiness } = judge(input, sight, new Date(deps.clock.now()).toISOString());
    const failures = await writeStatuses(deps, changes);
    const settled = sight.complete && readiness.progressing.length === 0;
    if (settled || deps.clock.monotonic() >= deadline) return { readiness, failures };
    await deps.clock.sleep(POLL_MS);
    sight = await look();
  }
}

const POLL_MS = 1000;

function resourceFrom(object: KubeObject, spec: JsonObject): Resource {
  const { status, ...rest } = object;
  return {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: object.metadata,
    spec,
    ...(isObject(status) ? { status } : {}),
  };
}

function stateOf(status: JsonObject): keyof Readiness | 'degraded' {
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const ready = conditions.find((condition) => isObject(condition) && condition.type === 'Ready');
  // What somebody scaled to zero is as it should be.
  if (isObject(ready) && (ready.status === 'True' || ready.reason === 'ScaledToZero')) return 'ready';
  // It runs; what it lacks is waited for by itself, where it is ours. New pods are still to be waited for.
  if (status.phase === 'Degraded' && isObject(ready) && ready.reason !== 'RolloutInProgress') return 'degraded';
  // A kind without phases only holds settings: nothing is under way that could make them right.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}

// Writes statuses, and an Event for each new failure in a status.

import { Failure } from '#std/failure.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { SUSPENDED } from '../apply/suspension-watch.ts';
import type { Clock, Cluster } from '../ports.ts';
import { failureEvent } from './events.ts';
import type { StatusChange } from './readiness.ts';

export interface TellDeps {
  readonly cluster: Pick<Cluster, 'apply' | 'create'>;
  readonly clock: Clock;
  /** Name of the instance, for Events. */
  readonly instance: string;
}

export interface StatusesWritten {
  /** A Failure `status-not-written` for each status that could not be written. */
  readonly failures: readonly Failure[];
  /** Warnings `event-not-written`. They are not errors, because no other program depends on Events. */
  readonly problems: readonly Problem[];
  /** Objects that changed after their status was computed. Their status was not written. */
  readonly overtaken: readonly ResourceId[];
}

/** Writes the statuses. `now` is RFC 3339 with milliseconds. */
export async function writeStatuses(
  deps: TellDeps,
  changes: readonly StatusChange[],
  now: string,
): Promise<StatusesWritten> {
  const reported = await Promise.all(changes.map((change) => tellOne(deps, change, now)));
  return {
    failures: reported.flatMap(({ failures }) => failures),
    problems: reported.flatMap(({ problems }) => problems),
    overtaken: reported.flatMap(({ overtaken }) => overtaken),
  };
}

/**
 * Writes the status before the Event. If only the Event were written, the next run would report the same failure again.
 */
async function tellOne(deps: TellDeps, change: StatusChange, now: string): Promise<StatusesWritten> {
  const failure = await writeStatus(deps, change);
  if (failure === 'suspended') return NOTHING;
  if (failure === 'overtaken') return { ...NOTHING, overtaken: [change.id] };
  if (failure !== undefined) return { ...NOTHING, failures: [failure] };
  const problem = await writeEvent(deps, change, now);
  return { ...NOTHING, problems: problem === undefined ? [] : [problem] };
}

/**
 * Writes a status. The resourceVersion from which the status was computed is a precondition, because virtual servers
 * also write their own status.
 */
async function writeStatus(
  deps: TellDeps,
  { id, live, written, departing }: StatusChange,
): Promise<Failure | 'suspended' | 'overtaken' | undefined> {
  const { name, namespace, uid, resourceVersion } = live.metadata;
  const metadata = { name, namespace, uid, resourceVersion };
  try {
    const object = { apiVersion: id.apiVersion, kind: id.kind, metadata, status: written };
    await deps.cluster.apply(object, { subresource: 'status', force: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === SUSPENDED) return SUSPENDED;
    if (departing === true && GONE.includes(error.code)) return undefined;
    if (error.code === 'cluster-conflict') return 'overtaken';
    return new Failure('status-not-written', `status of ${formatId(id)}: ${error.message}`, { cause: error });
  }
}

const NOTHING: StatusesWritten = { failures: [], problems: [], overtaken: [] };

/**
 * Returns the Failure for a status that was not written: before each attempt, another writer had changed the object.
 */
export function overtakenFailure(id: ResourceId): Failure {
  const message = `status of ${formatId(id)}: the object was changed again each time before it was written`;
  return new Failure('status-not-written', `${message}; the next run writes it`);
}

/** Codes of a response if the object no longer exists, or if its name now belongs to another object. */
const GONE: readonly string[] = ['cluster-not-found', 'cluster-conflict'];

async function writeEvent(deps: TellDeps, change: StatusChange, now: string): Promise<Problem | undefined> {
  const event = failureEvent(change, deps.instance, now);
  if (event === undefined) return undefined;
  try {
    await deps.cluster.create(event);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = `the Event about this failure could not be written: ${error.message}`;
    return { code: 'event-not-written', severity: 'warning', message, resource: change.id };
  }
}

// Ensures that an instance has one writer at a time, with a Kubernetes Lease. Only a run with something to write takes
// the lease.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { InstanceName } from '../instance.ts';
import { fieldManager } from '../labels.ts';
import type { Clock, Cluster } from '../ports.ts';
import { createReminder, type ReportWaiting } from '../waiting.ts';

const LEASE_SECONDS = 15;
const RENEW_EVERY_MS = (LEASE_SECONDS * 1000) / 3;
const POLL_MS = 500;

export interface LockDeps {
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly waiting?: ReportWaiting | undefined;
}

/**
 * Lease as the run read it before planning. If another run has written it since, its version is stale and our write
 * fails.
 */
export interface ObservedLease {
  readonly id: ResourceId;
  readonly lease: KubeObject | undefined;
}

export interface Lock {
  /** True if another run may have written since the lease was observed. An earlier plan is then stale. */
  readonly contended: boolean;
  /** Throws Failure `lock-lost` after the deadline of the lease. No request may start after that deadline. */
  assertHeld(): void;
  release(): Promise<void>;
}

/**
 * `deadline` is in monotonic milliseconds, counted from before the request. The deadline is thus never later than the
 * deadline that a waiting run computes.
 */
interface Taken {
  readonly lease: KubeObject;
  readonly deadline: number;
}

export async function readLease(deps: LockDeps, id: ResourceId): Promise<ObservedLease> {
  return { id, lease: await deps.cluster.get(id) };
}

/**
 * Returns the run's id with its host if known, such as `8f3c at node-1`, so that a person can find the run that holds
 * the lease.
 */
export function holderName({ id, host }: { readonly id: string; readonly host?: string | undefined }): string {
  return host === undefined ? id : `${id} at ${host}`;
}

export interface LeaseHolder {
  readonly holder: string;
  readonly renewedAt: string;
  /** True if the lease expired by this machine's clock: its holder ended without releasing the lease. */
  readonly expired?: true;
}

/** Returns the holder in the lease; undefined if the lease is free. `now` is in milliseconds since 1970. */
export function holderOf({ lease }: ObservedLease, now: number): LeaseHolder | undefined {
  const holder = heldBy(lease);
  if (holder === '') return undefined;
  const { renewTime, leaseDurationSeconds } = specOf(lease);
  const renewedAt = String(renewTime ?? '');
  const endsAt = Date.parse(renewedAt) + Number(leaseDurationSeconds) * 1000;
  return { holder, renewedAt, expired: endsAt < now ? true : undefined };
}

/**
 * Takes the lease. Watches a lease with a holder: throws Failure `locked` if the holder renews the lease. Takes the
 * lease over if, by this process's clock, nobody renewed the lease for its whole duration.
 */
export async function acquire(deps: LockDeps, observed: ObservedLease, holder: string): Promise<Lock> {
  const waited = heldBy(observed.lease) !== '' ? await waitOut(deps, observed) : observed.lease;
  const taken = await takeLease(deps, observed.id, waited, holder);
  const first = taken === undefined ? await takeAgain(deps, observed, holder) : taken;
  const contended = taken === undefined || waited !== observed.lease || heldBy(observed.lease) !== '';
  return hold(deps, observed.id, first, contended);
}

/** Tries once more after another run took the lease first. Throws Failure `locked` if the second try fails. */
async function takeAgain(deps: LockDeps, observed: ObservedLease, holder: string): Promise<Taken> {
  const now = await readLease(deps, observed.id);
  const free = heldBy(now.lease) === '' ? now.lease : await waitOut(deps, now);
  const taken = await takeLease(deps, observed.id, free, holder);
  if (taken === undefined) throw locked(observed.id, (await readLease(deps, observed.id)).lease);
  return taken;
}

/**
 * Resolves with the lease once it is free or has expired without a renewal. Throws Failure `locked` after a renewal.
 */
async function waitOut(
  { cluster, clock, waiting }: LockDeps,
  observed: ObservedLease,
): Promise<KubeObject | undefined> {
  const renewed = specOf(observed.lease).renewTime;
  const seconds = Number(specOf(observed.lease).leaseDurationSeconds ?? LEASE_SECONDS);
  const deadline = clock.monotonic() + seconds * 1000;
  const remind = createReminder(clock, waiting);
  for (;;) {
    const lease = await cluster.get(observed.id);
    const holder = heldBy(lease);
    if (holder === '') return lease;
    if (specOf(lease).renewTime !== renewed) throw locked(observed.id, lease);
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0) return lease;
    remind({ for: 'lease', holder, leftMs });
    await clock.sleep(POLL_MS);
  }
}

/** Returns undefined if another run took the lease first. */
async function takeLease(
  { cluster, clock }: LockDeps,
  id: ResourceId,
  lease: KubeObject | undefined,
  holder: string,
): Promise<Taken | undefined> {
  const now = microTime(clock);
  const deadline = clock.monotonic() + LEASE_SECONDS * 1000;
  const transitions = Number(specOf(lease).leaseTransitions ?? 0);
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: lease === undefined ? 0 : transitions + 1,
  };
  try {
    if (lease !== undefined) return { lease: await cluster.replace({ ...lease, spec }), deadline };
    const { apiVersion, kind, name, namespace } = id;
    const metadata = namespace === undefined ? { name } : { name, namespace };
    return { lease: await cluster.create({ apiVersion, kind, metadata, spec }), deadline };
  } catch (error) {
    if (error instanceof Failure && error.code === 'cluster-conflict') return undefined;
    throw error;
  }
}

function hold(deps: LockDeps, id: ResourceId, taken: Taken, contended: boolean): Lock {
  const { cluster, clock } = deps;
  let { lease, deadline } = taken;
  const stop = new AbortController();
  const renewing = renew();

  async function renew(): Promise<void> {
    let pauseMs = RENEW_EVERY_MS;
    for (;;) {
      await clock.sleep(pauseMs, stop.signal);
      if (stop.signal.aborted) return;
      const started = clock.monotonic();
      try {
        lease = await cluster.replace({ ...lease, spec: { ...specOf(lease), renewTime: microTime(clock) } });
        deadline = started + LEASE_SECONDS * 1000;
        pauseMs = RENEW_EVERY_MS;
      } catch (error) {
        if (!(await stillOurs(error))) return;
        pauseMs = POLL_MS;
      }
    }
  }

  /**
   * Returns true if this run may still hold the lease. An unreachable server does not prove a loss: until it responds,
   * the deadline stops the writers.
   */
  async function stillOurs(error: unknown): Promise<boolean> {
    if (!(error instanceof Failure)) throw error;
    if (error.code !== 'cluster-conflict' && error.code !== 'cluster-not-found') return true;
    // The cause of a conflict may be our own renewal whose response was lost, or an annotation that a person set.
    const now = await readLease(deps, id).catch(unlessFailure);
    if (now === undefined) return true;
    if (now.lease !== undefined && heldBy(now.lease) === heldBy(lease)) {
      lease = now.lease;
      return true;
    }
    deadline = Number.NEGATIVE_INFINITY;
    return false;
  }

  function giveBack(): Promise<unknown> {
    const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1 };
    return cluster.replace({ ...lease, spec });
  }

  return {
    contended,
    assertHeld() {
      if (clock.monotonic() < deadline) return;
      throw new Failure('lock-lost', 'the lease expired before the run was done: this run writes nothing more');
    },
    async release() {
      stop.abort();
      await renewing;
      if (clock.monotonic() >= deadline) return;
      // All writes are complete. A lease that cannot be released expires by itself.
      await giveBack().catch(async (error) => ((await stillOurs(error)) ? giveBack().catch(unlessFailure) : undefined));
    },
  };
}

function unlessFailure(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}

function locked(id: ResourceId, found: KubeObject | undefined): Failure {
  const lease = `${id.namespace ?? ''}/${id.name}`;
  const holder = heldBy(found);
  const { acquireTime, renewTime, leaseDurationSeconds = LEASE_SECONDS } = specOf(found);
  const endsAt = new Date(Date.parse(String(renewTime)) + Number(leaseDurationSeconds) * 1000);
  const since = acquireTime === undefined ? '' : ` since ${String(acquireTime)}`;
  const until = Number.isNaN(endsAt.getTime()) ? '' : ` until ${endsAt.toISOString()}, which it renews`;
  const message = `another run of this instance, ${holder}, has the lease ${lease}${since}${until}: try again when it has ended, or stop it`;
  return new Failure('locked', message, { data: { lease, holder } });
}

function specOf(lease: KubeObject | undefined): Record<string, unknown> {
  const spec = lease?.spec;
  return isObject(spec) ? spec : {};
}

function heldBy(lease: KubeObject | undefined): string {
  return String(specOf(lease).holderIdentity ?? '');
}

/** Formats the time as MicroTime of Kubernetes: RFC 3339 with six decimals. */
function microTime(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace('Z', '000Z');
}

export function leaseId({ instance, homeNamespace: namespace }: InstanceName): ResourceId {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: fieldManager(instance) };
}

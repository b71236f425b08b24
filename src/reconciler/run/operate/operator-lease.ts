// Finds the lease of ToolHive's operator in any namespace: the operator watches all namespaces, even if this instance
// does not.

import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { scopeOf } from '../observe/scope.ts';
import type { ApiResource, Clock, Cluster } from '../ports.ts';

export interface OperatorLease {
  /** Lease of the operator; absent if no holder renews it. */
  readonly lease?: ResourceId;
  /** Failure of listing the leases of some namespaces. */
  readonly failure?: Failure;
}

const API_VERSION = 'coordination.k8s.io/v1';
const NAME = 'toolhive-operator-leader-election';
/** Namespace that ToolHive's installation instructions use. */
const USUAL_NAMESPACE = 'toolhive-system';

export async function findOperatorLease(
  { cluster, clock }: { readonly cluster: Pick<Cluster, 'serves' | 'list'>; readonly clock: Pick<Clock, 'now'> },
  { namespaces }: { readonly namespaces: readonly string[] },
): Promise<OperatorLease> {
  const resource = await cluster.serves(API_VERSION, 'Lease');
  if (resource === undefined) return {};
  const { leases, failure } = await listLeases(cluster, resource, scopeOf(namespaces).names ?? []);
  const lease = leases.find((each) => each.metadata.name === NAME && isRenewed(each, clock.now()));
  return { lease: lease && idOf(lease), failure };
}

/** Lists the leases of all namespaces. If that fails, lists the namespaces of the instance, and `toolhive-system`. */
async function listLeases(
  cluster: Pick<Cluster, 'list'>,
  resource: ApiResource,
  names: readonly string[],
): Promise<{ readonly leases: readonly KubeObject[]; readonly failure?: Failure }> {
  try {
    return { leases: await cluster.list(resource) };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const own = await Promise.all(
      [...names, USUAL_NAMESPACE].map((name) => cluster.list(resource, name).catch(noneOf)),
    );
    return { leases: own.flat(), failure };
  }
}

function noneOf(error: unknown): readonly KubeObject[] {
  if (error instanceof Failure) return [];
  throw error;
}

function isRenewed({ spec }: KubeObject, now: number): boolean {
  const { renewTime, leaseDurationSeconds, holderIdentity } = isObject(spec) ? spec : {};
  if (typeof renewTime !== 'string' || !holderIdentity) return false;
  const seconds = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0;
  return Date.parse(renewTime) + seconds * 1000 > now;
}

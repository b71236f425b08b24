// Reads from the cluster the definitions of kinds that a source uses but does not define.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { ApiResource, Cluster } from '../ports.ts';

export const DEFINITION = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

/**
 * Returns the CRDs of the kinds. Leaves out kinds that the server does not serve, and kinds whose CRD does not exist or
 * may not be read. Objects of such a kind are then reported as objects of an unknown kind.
 */
export async function listDefinitions(
  cluster: Pick<Cluster, 'resources' | 'get'>,
  foreign: readonly { readonly apiVersion: string; readonly kind: string }[],
): Promise<readonly KubeObject[]> {
  if (foreign.length === 0) return [];
  const served = await cluster.resources();
  const names = foreign.flatMap(({ apiVersion, kind }) => {
    const group = groupOf(apiVersion);
    const found = served.find((each) => groupOf(each.apiVersion) === group && each.kind === kind);
    return found === undefined ? [] : [`${found.plural}.${group}`];
  });
  const definitions = await Promise.all(
    [...new Set(names)].map((name) => getReadable(cluster, { ...DEFINITION, name })),
  );
  return definitions.filter((each) => each !== undefined);
}

/** Returns the kinds of `unknown` that the server serves. `unknown` are kinds without a schema in this program. */
export async function listServedKinds(
  cluster: Pick<Cluster, 'serves'>,
  unknown: readonly { readonly apiVersion: string; readonly kind: string }[],
): Promise<readonly ApiResource[]> {
  const found = await Promise.all(unknown.map(({ apiVersion, kind }) => cluster.serves(apiVersion, kind)));
  return found.filter((each) => each !== undefined);
}

async function getReadable(cluster: Pick<Cluster, 'get'>, id: ResourceId): Promise<KubeObject | undefined> {
  try {
    return await cluster.get(id);
  } catch (error) {
    if (error instanceof Failure && error.code === 'cluster-forbidden') return undefined;
    throw error;
  }
}

// Reads the definitions of kinds that a source uses and others have defined, by name from the cluster.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { ApiResource, Cluster } from '../ports.ts';

export const DEFINITION = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

/**
 * Sends no request if no kind is foreign. Kinds that the server does not serve, or serves without a CRD, have no
 * definition; nor have kinds whose CRD this instance may not read: their objects are reported as of an unknown kind.
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

/** Returns the kinds that the server serves, of kinds without a schema here: in runs its discovery decides. */
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

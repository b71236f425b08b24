// Reads the merge rules of kinds from the OpenAPI documents of the cluster.

import { groupOf } from '#kubernetes/rules/object.ts';
import { type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Cluster } from '../ports.ts';

type KindId = Pick<ResourceId, 'apiVersion' | 'kind'>;

/** Returns the rules; undefined if the cluster has no document about the kind. */
export async function readMergeType(
  cluster: Pick<Cluster, 'schema'>,
  { apiVersion, kind }: KindId,
): Promise<MergeType | undefined> {
  const document = await cluster.schema(apiVersion);
  const group = groupOf(apiVersion);
  const version = apiVersion.slice(group === '' ? 0 : group.length + 1);
  return document === undefined ? undefined : rootType(document, { group, version, kind });
}

/** Returns a function from a kind to its rules. The rules of each kind are read once. */
export async function readMergeTypes(
  cluster: Pick<Cluster, 'schema'>,
  ids: readonly KindId[],
): Promise<(id: KindId) => MergeType | undefined> {
  const types = new Map<string, MergeType | undefined>();
  const named = new Map(ids.map((id) => [`${id.apiVersion}/${id.kind}`, id]));
  await Promise.all([...named].map(async ([name, id]) => types.set(name, await readMergeType(cluster, id))));
  return (id) => types.get(`${id.apiVersion}/${id.kind}`);
}

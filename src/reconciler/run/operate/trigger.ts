// Sets an annotation on a live MCPRegistry that requests a sync of all its sources. The next run reads the annotation.
// The annotation has its own field manager, so that neither Git nor a run removes it.

import { groupOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { Clock, Cluster } from '../ports.ts';

export interface TriggerRequest {
  readonly apiGroup: string;
  readonly namespace: string;
  readonly name: string;
}

/** Only this kind has sources to sync (`Kind.sources`). */
export const REGISTRY_KIND = 'MCPRegistry';

/**
 * Sets the annotation and returns its value, the current time. Throws Failure `trigger-unknown-registry`, or
 * `trigger-declared` if another manager has set the annotation. `cluster` must have another field manager than the
 * instance.
 */
export async function triggerSync(
  {
    cluster,
    clock,
  }: { readonly cluster: Pick<Cluster, 'resources' | 'get' | 'apply'>; readonly clock: Pick<Clock, 'now'> },
  { apiGroup, namespace, name }: TriggerRequest,
): Promise<string> {
  const resources = await cluster.resources();
  const served = resources.find(({ apiVersion, kind }) => kind === REGISTRY_KIND && groupOf(apiVersion) === apiGroup);
  const id = { apiVersion: served?.apiVersion ?? '', kind: REGISTRY_KIND, namespace, name };
  const living = served === undefined ? undefined : await cluster.get(id);
  if (living === undefined) {
    throw new Failure(
      'trigger-unknown-registry',
      `there is no ${REGISTRY_KIND} ${namespace}/${name} of ${apiGroup} in the cluster`,
    );
  }
  const value = new Date(clock.now()).toISOString();
  const { uid } = living.metadata;
  const metadata = {
    name,
    namespace,
    annotations: { [`${apiGroup}/sync-trigger`]: value },
    uid,
  };
  try {
    await cluster.apply({ apiVersion: id.apiVersion, kind: REGISTRY_KIND, metadata }, { force: false });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'cluster-conflict') throw error;
    const message = `another manager has set the sync-trigger of ${namespace}/${name}: if it is in Git, change it there`;
    throw new Failure('trigger-declared', `${message} (${error.message})`, { cause: error });
  }
  return value;
}

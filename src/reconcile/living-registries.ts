// The registries of the instance as they live: what is synced by runs that apply nothing of what Git says. Knows nothing
// about how a source is read.

import type { Kind, Resource } from '../kinds/kind.ts';
import { groupOf, idOf, type KubeObject } from '../kube/object.ts';
import { isObject } from '../std/json.ts';
import { applySetId, labelOf, PART_OF } from './labels.ts';
import type { RunOptions } from './reconcile.ts';
import type { SyncInput } from './registries.ts';
import type { Snapshot } from './snapshot.ts';
import { openViews } from './view.ts';

/** Nor is anything else that Git says looked at: a ConfigMap that a source reads is the one that lives. */
export function livingRegistries(
  { kinds, apiGroup, instance, homeNamespace }: RunOptions,
  snapshot: Snapshot,
): Pick<SyncInput, 'loaded' | 'views'> {
  const applySet = applySetId(instance, homeNamespace);
  const objects = snapshot.objects();
  const loaded = objects.flatMap((object) => {
    const kind = kinds.find((each) => each.kind === object.kind && groupOf(object.apiVersion) === apiGroup);
    if (kind === undefined || labelOf(object, PART_OF) !== applySet || !isResource(object)) return [];
    return hasSources(kind, object) ? [{ id: idOf(object), kind, defaulted: object }] : [];
  });
  return { loaded, views: openViews({ apiGroup, layers: [objects] }) };
}

function isResource(object: KubeObject): object is Resource {
  return isObject(object.spec) && object.metadata.deletionTimestamp === undefined;
}

function hasSources(kind: Kind, resource: Resource): boolean {
  return kind.sources(resource).length > 0;
}

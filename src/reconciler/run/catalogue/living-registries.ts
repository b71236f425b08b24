// The registries of the instance as they exist: what is synced by runs that apply nothing of what Git says.

import { idOf } from '#kubernetes/rules/object.ts';
import { readableResources } from '../observe/readable-resources.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { openViews } from '../observe/view.ts';
import { type Ours, ourResources } from '../operate/resources-status.ts';
import { REGISTRY_KIND } from '../operate/trigger.ts';
import type { SyncInput } from './registries.ts';

/** Nor is anything else that Git says looked at: a ConfigMap that a source reads is the one that exists. */
export function livingRegistries(
  options: Ours,
  snapshot: Pick<Snapshot, 'objects'>,
): Pick<SyncInput, 'loaded' | 'views'> {
  const { kinds, apiGroup } = options;
  const objects = snapshot.objects();
  const registries = ourResources(options, objects).filter(
    ({ kind, metadata }) => kind === REGISTRY_KIND && metadata.deletionTimestamp === undefined,
  );
  const loaded = readableResources(kinds, apiGroup, registries).map(({ kind, resource }) => {
    return { id: idOf(resource), kind, defaulted: resource };
  });
  return { loaded, views: openViews({ apiGroup, layers: [objects] }) };
}

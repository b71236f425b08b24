// Finds the registries of the instance in the cluster. Runs that apply nothing from Git sync these registries.

import { idOf } from '#kubernetes/rules/object.ts';
import { readableResources } from '../observe/readable-resources.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { openViews } from '../observe/view.ts';
import { type Ours, ourResources } from '../operate/resources-status.ts';
import { REGISTRY_KIND } from '../operate/trigger.ts';
import type { SyncInput } from './registries.ts';

/** Returns the registries and their ConfigMaps from the cluster; reads nothing from Git. */
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

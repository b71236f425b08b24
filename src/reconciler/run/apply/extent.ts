// Declares in the ApplySet parent which kinds and namespaces have members. Before the first change, the parent gets a
// superset. After the last change, the parent gets exactly the kinds and namespaces of the members.

import type { ResourceId } from '#std/problem.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import type { InstanceName } from '../instance.ts';
import { applySetId } from '../labels.ts';
import { type Extent, extentOfMembers, kindsOf, parentObject, union, withInventory } from '../observe/applyset.ts';
import type { Observed } from '../observe/observe.ts';
import type { Plan } from '../plan/plan.ts';
import type { Cluster } from '../ports.ts';

interface Members extends Pick<Observed, 'snapshot' | 'parent'> {
  readonly desires: Pick<OwnDesires, 'objects'>;
  readonly plan: Pick<Plan, 'held' | 'withheld'>;
}

/**
 * Returns the kinds and namespaces of the members after the last change. None is removed if some members may be
 * unknown, because a LIST failed or a kind of the parent is not served.
 */
export function exactExtent({ homeNamespace }: InstanceName, { snapshot, parent, ...planned }: Members): Extent {
  const seen = extentOfMembers(membersOf(planned), homeNamespace);
  const blind = snapshot.failures().length > 0 || kindsOf(parent.extent).some((kind) => !snapshot.served(kind));
  return blind ? union(seen, parent.extent) : seen;
}

/** Returns the identities of all members of our ApplySet after the plan. */
function membersOf({ desires, plan }: Pick<Members, 'desires' | 'plan'>): ResourceId[] {
  const { held, withheld = [] } = plan;
  const staying = [...held.filter(({ leaving }) => leaving !== true), ...withheld];
  return [...desires.objects.map(({ id }) => id), ...staying.map(({ resource }) => resource)];
}

export async function declareExtent(
  { cluster }: { readonly cluster: Pick<Cluster, 'apply'> },
  { instance, homeNamespace, tooling }: InstanceName & { readonly tooling: string },
  { parent }: Pick<Observed, 'parent'>,
  extent: Extent,
): Promise<void> {
  const object = parentObject(parent.id, applySetId(instance, homeNamespace), extent, tooling);
  const { before, now } = parent.origins;
  await cluster.apply(withInventory(object, now.length === 0 ? before : now), { force: true });
}

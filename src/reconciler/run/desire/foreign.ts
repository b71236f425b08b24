// Prevents a resource from taking over foreign objects as its children. If a child would be a foreign object, all
// children of the resource are kept unchanged.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { isOfOtherSet, labelOf, PART_OF } from '../labels.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Standing } from '../resolve/resolve.ts';
import { type Desired, type Desires, heldOwner } from './desire.ts';

export interface OwnDesires extends Desires {
  readonly problems: readonly Problem[];
  /**
   * Keys of resources applied by hand whose children another instance creates. That instance also writes their status.
   */
  readonly ofOthers: ReadonlySet<string>;
}

export interface ForeignInput {
  readonly desires: Desires;
  readonly standings: readonly Standing[];
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly applySet: string;
  /** Returns true if this instance has applied the object, by its managed fields. */
  readonly applied: (object: KubeObject) => boolean;
}

/**
 * Leaves out all children of a resource if one of them exists and belongs to another owner. A live child whose
 * controller is the resource itself is taken over from the earlier operator.
 */
export function withoutForeign(input: ForeignInput): OwnDesires {
  const { desires, standings } = input;
  const problems: Problem[] = [];
  const held = new Set<string>();
  const ofOthers = new Set<string>();
  const families = Map.groupBy(desires.objects, ({ owner }) => (owner === undefined ? undefined : keyOf(owner)));
  for (const { loaded } of standings) {
    const family = families.get(keyOf(loaded.id)) ?? [];
    const kept = loaded.byHand === true ? keptByOther(input, family) : undefined;
    if (kept !== undefined) ofOthers.add(keyOf(loaded.id));
    const messages = kept === undefined ? family.flatMap((child) => foreignMessage(input, child, loaded.id)) : [kept];
    if (messages.length === 0) continue;
    held.add(keyOf(loaded.id));
    const finding = { code: 'child-foreign', severity: 'error', pointer: '/metadata/name' } as const;
    problems.push(...messages.map((message) => problemOf(loaded, { ...finding, message })));
  }
  const owners = standings.map(({ loaded }) => loaded.id).filter((id) => held.has(keyOf(id)));
  return {
    objects: desires.objects.filter(({ owner }) => owner === undefined || !held.has(keyOf(owner))),
    heldOwners: new Set([...desires.heldOwners, ...owners.map(heldOwner)]),
    problems,
    ofOthers,
  };
}

/**
 * Returns a message if another instance creates the children of a resource that was applied by hand. If each of two
 * instances has created some children, both instances choose the instance with the smallest ApplySet id.
 */
function keptByOther({ living, applySet }: ForeignInput, family: readonly Desired[]): string | undefined {
  const found = family.flatMap(({ id }) => living(id) ?? []);
  // Almost always, all children are in our ApplySet.
  if (found.every((object) => labelOf(object, PART_OF) === applySet)) return undefined;
  const sets = found.flatMap((object) => labelOf(object, PART_OF) ?? []).sort();
  const other = found.find((object) => labelOf(object, PART_OF) === sets[0] && isOfOtherSet(object, applySet));
  if (other === undefined) return undefined;
  return (
    `another instance keeps ${formatId(idOf(other))} and creates the children of this resource: ` +
    `if that instance does not exist any more, remove the label ${PART_OF} from them`
  );
}

function foreignMessage(input: ForeignInput, { id }: Desired, owner: ResourceId): string[] {
  const live = input.living(id);
  if (live === undefined) return [];
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller !== undefined) {
    if (controller.kind === owner.kind && controller.name === owner.name) return [];
    return [
      `would create ${formatId(id)}, which belongs to ${controller.kind} "${controller.name}": rename one of the two`,
    ];
  }
  // Instances with the same name have the same field manager. Only the ApplySet shows which instance has applied the
  // object.
  if (isOfOtherSet(live, input.applySet))
    return [`would create ${formatId(id)}, which another instance keeps: rename one of the two`];
  if (labelOf(live, PART_OF) === input.applySet || input.applied(live)) return [];
  return [
    `would create ${formatId(id)}, which exists and does not belong to this instance: delete or rename one of the two`,
  ];
}

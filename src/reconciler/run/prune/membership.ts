// What of the objects that carry the instance's labels it has created: by its inventory, and for children by their owners.

import { groupOf, type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { labelOf, OWNER } from '../labels.ts';
import { type Entry, type Inventory, type InventoryContent, isRecorded } from '../records/inventory.ts';
import { sourceOf } from './may-delete.ts';

export interface MembershipInput {
  readonly inventory: Inventory;
  /** Whether the ApplySet parent lives and is of release 0.1.0: a new instance has none, and nothing of its own yet. */
  readonly beforeInventories: boolean;
  /** All live objects of our set. */
  readonly owned: readonly KubeObject[];
  /** Everything that exists. */
  readonly live: readonly KubeObject[];
  readonly applied: (object: KubeObject) => boolean;
  readonly manager: string;
  readonly apiGroup: string;
}

export interface Membership {
  /** What is recorded, or is to be taken as recorded. */
  readonly content: InventoryContent;
  readonly recorded: (object: KubeObject) => boolean;
}

/**
 * Release 0.1.0 kept no inventory: what it has left is recorded as it is found. A lost inventory is not made up: what is
 * to be deleted then waits for an approval.
 */
export function membershipOf(input: MembershipInput): Membership {
  const { inventory, beforeInventories, manager } = input;
  const isFound = beforeInventories && inventory.stored.length === 0;
  const content = isFound ? { ...inventory, entries: foundEntries(input) } : inventory;
  const isOwn = isRecorded(content, manager);
  const owners = ownerUids(input, content);
  return {
    content,
    recorded: (object) => (labelOf(object, OWNER) === undefined ? isOwn(object) : isChild(object, owners)),
  };
}

function foundEntries({ owned, applied }: MembershipInput): ReadonlyMap<string, Entry> {
  const own = owned.filter((object) => labelOf(object, OWNER) === undefined && applied(object));
  return new Map(
    own.flatMap((object): [string, Entry][] => {
      const { uid } = object.metadata;
      return uid === undefined ? [] : [[keyOfObject(object), { source: sourceOf(object), run: '', uid }]];
    }),
  );
}

/** Of custom resources that live, ours or applied by hand, and of those that were ours. */
function ownerUids({ live, apiGroup }: MembershipInput, { entries }: InventoryContent): ReadonlySet<string> {
  const resources = live.filter(({ apiVersion }) => groupOf(apiVersion) === apiGroup);
  return new Set([
    ...resources.flatMap(({ metadata }) => metadata.uid ?? []),
    ...[...entries.values()].flatMap(({ uid }) => uid ?? []),
  ]);
}

/** Whoever may write the reference of an owner into an object may have the garbage collector delete it: that needs no record. */
function isChild({ metadata: { ownerReferences = [] } }: KubeObject, owners: ReadonlySet<string>): boolean {
  return ownerReferences.some(({ controller, uid }) => controller === true && owners.has(uid));
}

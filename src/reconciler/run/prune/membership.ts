// Determines which objects with our labels this instance has created: by the inventory and, for children, by their
// owners.

import { groupOf, type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { labelOf, OWNER } from '../labels.ts';
import { type Inventory, type InventoryContent, type InventoryEntry, isRecorded } from '../records/inventory.ts';
import { sourceOf } from './may-delete.ts';

export interface MembershipInput {
  readonly inventory: Inventory;
  /** True if release 0.1.0 wrote the ApplySet parent. False for a new instance, which has no parent. */
  readonly beforeInventories: boolean;
  /** All live objects of our ApplySet. */
  readonly owned: readonly KubeObject[];
  readonly live: readonly KubeObject[];
  readonly applied: (object: KubeObject) => boolean;
  readonly manager: string;
  readonly apiGroup: string;
}

export interface Membership {
  /** Content of the inventory. If release 0.1.0 created the objects, the content for the first inventory. */
  readonly content: InventoryContent;
  readonly recorded: (object: KubeObject) => boolean;
}

/**
 * Determines the membership. Release 0.1.0 kept no inventory, so all objects that it applied are recorded. A lost
 * inventory is not reconstructed: without it, deletions wait for approval.
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

function foundEntries({ owned, applied }: MembershipInput): ReadonlyMap<string, InventoryEntry> {
  const own = owned.filter((object) => labelOf(object, OWNER) === undefined && applied(object));
  return new Map(
    own.flatMap((object): [string, InventoryEntry][] => {
      const { uid } = object.metadata;
      return uid === undefined ? [] : [[keyOfObject(object), { source: sourceOf(object), run: '', uid }]];
    }),
  );
}

/** Returns the uids of all live custom resources, and of all objects in the inventory. */
function ownerUids({ live, apiGroup }: MembershipInput, { entries }: InventoryContent): ReadonlySet<string> {
  const resources = live.filter(({ apiVersion }) => groupOf(apiVersion) === apiGroup);
  return new Set([
    ...resources.flatMap(({ metadata }) => metadata.uid ?? []),
    ...[...entries.values()].flatMap(({ uid }) => uid ?? []),
  ]);
}

/**
 * Returns true if the controller of the object is one of the owners. The inventory is not needed for such a child: a
 * user who may write owner references can make the garbage collector delete the object anyway.
 */
function isChild({ metadata: { ownerReferences = [] } }: KubeObject, owners: ReadonlySet<string>): boolean {
  return ownerReferences.some(({ controller, uid }) => controller === true && owners.has(uid));
}

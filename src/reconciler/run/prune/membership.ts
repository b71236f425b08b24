// Determines which of the objects with the instance's labels this instance has created: by its inventory, and for
// children by their owners.

import { groupOf, type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { labelOf, OWNER } from '../labels.ts';
import { type Entry, type Inventory, type InventoryContent, isRecorded } from '../records/inventory.ts';
import { sourceOf } from './may-delete.ts';

export interface MembershipInput {
  readonly inventory: Inventory;
  /**
   * True if the ApplySet parent exists and was written by release 0.1.0. A new instance has neither a parent nor
   * objects.
   */
  readonly beforeInventories: boolean;
  /** All live objects of our set. */
  readonly owned: readonly KubeObject[];
  /** All existing objects. */
  readonly live: readonly KubeObject[];
  readonly applied: (object: KubeObject) => boolean;
  readonly manager: string;
  readonly apiGroup: string;
}

export interface Membership {
  /** Content of the inventory, or content that replaces it. */
  readonly content: InventoryContent;
  readonly recorded: (object: KubeObject) => boolean;
}

/**
 * Determines the membership. Release 0.1.0 kept no inventory: its objects are recorded as they are found. A lost
 * inventory is not reconstructed: deletions then wait for an approval.
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

/** Returns the uids of live custom resources, including hand-applied resources, and of resources that were ours. */
function ownerUids({ live, apiGroup }: MembershipInput, { entries }: InventoryContent): ReadonlySet<string> {
  const resources = live.filter(({ apiVersion }) => groupOf(apiVersion) === apiGroup);
  return new Set([
    ...resources.flatMap(({ metadata }) => metadata.uid ?? []),
    ...[...entries.values()].flatMap(({ uid }) => uid ?? []),
  ]);
}

/**
 * Returns true if one of the owners controls the object. This needs no record: a user who may write owner references
 * can have the garbage collector delete the object anyway.
 */
function isChild({ metadata: { ownerReferences = [] } }: KubeObject, owners: ReadonlySet<string>): boolean {
  return ownerReferences.some(({ controller, uid }) => controller === true && owners.has(uid));
}

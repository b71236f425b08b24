// Sorts the differences into batches of changes, and applies the limits on deletions. The same input always leads to
// the same plan.

import type { ReadContents } from '#kubernetes/rules/large-values.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { Difference } from '#kubernetes/rules/ownership/differences.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Compared, Evicted, Preview } from '../diff/compared.ts';
import { labelOf, OWNER } from '../labels.ts';
import { type Deletions, type Held, withInhabitants } from '../prune/deletions.ts';
import type { DeletionList } from '../prune/guard.ts';
import { type ApprovedList, listsByUid, sortLists } from '../prune/lists.ts';
import { mayDelete, ownerOf, sourceOf } from '../prune/may-delete.ts';
import type { AccountOf } from './accounts.ts';

export type Change =
  | {
      readonly action: 'create' | 'update';
      readonly resource: ResourceId;
      readonly key: string;
      readonly object: KubeObject;
      /** Reads the long values for which `object` has stand-ins. */
      readonly contents?: ReadContents;
      /** Uid of the live object, as a precondition; absent for a creation. */
      readonly uid?: string;
      /** Custom resource that owns the object, and that must be applied first. */
      readonly owner?: ResourceId;
      /** True if the live object must be deleted first, because the server does not allow the change. */
      readonly replaces?: true;
      /** Parts of other managers that block the change. The change removes these parts. */
      readonly evicted?: Evicted;
      /** True if the object does not differ, but a deletion request of an earlier run may still reach the server. */
      readonly touched?: true;
      /** Result of the dry run; absent if no dry run was sent. */
      readonly preview?: Preview;
      /** Number of bytes by key of a Secret, for values that are generated at the apply. */
      readonly random?: Readonly<Record<string, number>>;
      /** User that makes the change; absent for the account of the reconciler. */
      readonly account?: string;
      readonly diff: readonly Difference[];
    }
  | {
      readonly action: 'delete';
      readonly resource: ResourceId;
      readonly key: string;
      /** Value of the object's source label. */
      readonly source: string;
      readonly uid: string;
      /** Live objects that refer to the object. They are changed before the deletion. */
      readonly referrers: readonly ResourceId[];
      readonly account?: string;
      readonly diff: readonly Difference[];
    };

interface Batch {
  /** Name such as `apply Namespace` or `delete Deployment`. */
  readonly name: string;
  readonly changes: readonly Change[];
}

/**
 * A change that must not be made, for example because it is not in the plan file. Changes that depend on it are not
 * made either.
 */
export interface Withheld {
  readonly action: 'failed' | 'held';
  readonly resource: ResourceId;
  readonly deletion: boolean;
  readonly owner?: ResourceId;
  readonly error: { readonly code: string; readonly message: string };
}

export interface Plan {
  readonly batches: readonly Batch[];
  /**
   * Changes that must not be made: all changes of the run wait for an approval, or an admission does not allow these.
   */
  readonly withheld?: readonly Withheld[];
  /** Objects that are kept unchanged, each with a reason. */
  readonly held: readonly Held[];
  readonly unchanged: readonly ResourceId[];
  /** Deletions that wait for approval, by source. */
  readonly waiting: readonly DeletionList[];
  /** Deletions that have an approval, and would wait without it. */
  readonly approved: readonly ApprovedList[];
  /** Deletions that need no approval. */
  readonly within: readonly DeletionList[];
}

export interface PlanInput {
  readonly compared: readonly Compared[];
  /** Objects that differ and are kept unchanged because their source waits. */
  readonly awaiting: readonly Held[];
  readonly deletions: Deletions;
  readonly lists: readonly DeletionList[];
  /** Deletions by key that an earlier run has begun. Their requests may or may not have reached the server. */
  readonly leaving: ReadonlyMap<string, { readonly uid: string }>;
  /** Returns the live objects that refer to an object. */
  readonly referrers: (target: ResourceId) => readonly ResourceId[];
  readonly accountOf: AccountOf;
  /** Returns the position of a kind in the order of writes. Deletions have the reverse order. */
  readonly rank: (id: ResourceId) => number;
}

export function plan(input: PlanInput): Plan {
  const { compared } = input;
  const lists = sortLists(input.lists);
  const { going, held, facts } = input.deletions;
  const same = compared.filter((each) => each.result === 'unchanged' && !isTouched(input, each));
  const unchanged = same.map(({ desired }) => desired.id);
  const waiting = listsByUid(lists.waiting);
  const isWaiting = (object: KubeObject): boolean => waiting.has(object.metadata.uid ?? '');
  const waits = (object: KubeObject) => (isWaiting(object) ? 'its deletion waits for approval' : undefined);
  const inhabited = withInhabitants(facts.inhabited, going.filter(isWaiting));
  const decided = going.map((object) => {
    // Other waiting objects inside a waiting object do not keep it, because its approval list names these objects.
    const now = isWaiting(object) ? facts : { ...facts, inhabited };
    return [object, mayDelete(object, { ...now, waits })] as const;
  });
  const unapproved = decided.flatMap(([object, decision]): Held[] =>
    decision.decision === 'go' ? [] : [{ resource: idOf(object), owner: ownerOf(object), reason: decision.reason }],
  );
  const isBarred = (each: Compared): boolean => {
    const live = replacedOf(each);
    return live !== undefined && isWaiting(live);
  };
  const unreplaced = compared.filter(isBarred).map(
    ({ desired }): Held => ({
      resource: desired.id,
      owner: desired.owner,
      reason: 'its replacement waits for approval',
    }),
  );
  const writes = compared.filter((each) => !isBarred(each)).flatMap((each) => writeOf(input, each));
  const allowed = decided.filter(([, { decision }]) => decision === 'go').map(([object]) => object);
  const batches = [...applyBatches(input, writes), ...deleteBatches(input, allowed)];
  return { batches, held: [...held, ...unapproved, ...unreplaced, ...input.awaiting], unchanged, ...lists };
}

/** For a replacement, returns the live object to delete first; undefined if that object is already being deleted. */
export function replacedOf({ result, live }: Compared): KubeObject | undefined {
  return result === 'replace' && live?.metadata.deletionTimestamp === undefined ? live : undefined;
}

/**
 * Returns true if the object must be written only to get a new resourceVersion. A late deletion request of an earlier
 * run then fails, because its precondition names the old resourceVersion.
 */
function isTouched({ leaving }: PlanInput, { desired, live }: Compared): boolean {
  const { uid, deletionTimestamp } = live?.metadata ?? {};
  return uid !== undefined && deletionTimestamp === undefined && leaving.get(desired.key)?.uid === uid;
}

function writeOf(input: PlanInput, compared: Compared): Change[] {
  const { desired, live, result, diff, preview, evicted } = compared;
  const { object, contents, id: resource, key, owner, random } = desired;
  const touched = result === 'unchanged' && isTouched(input, compared);
  if (result === 'unchanged' && !touched) return [];
  return [
    {
      action: result === 'create' ? 'create' : 'update',
      resource,
      key,
      object,
      ...(contents && { contents }),
      uid: result === 'create' ? undefined : live?.metadata.uid,
      owner,
      random,
      replaces: result === 'replace' ? true : undefined,
      evicted,
      touched: touched ? true : undefined,
      preview,
      ...by(input.accountOf(object)),
      diff,
    },
  ];
}

function deletionOf({ accountOf, referrers }: PlanInput, object: KubeObject): Change {
  const resource = idOf(object);
  const { uid = '' } = object.metadata;
  return {
    action: 'delete',
    resource,
    key: keyOf(resource),
    source: sourceOf(object),
    uid,
    referrers: referrers(resource),
    ...by(accountOf(object)),
    diff: [],
  };
}

function by(account: string | undefined): { account?: string } {
  return account === undefined ? {} : { account };
}

/**
 * Returns the batches of writes: first declared objects in the order of kinds, then children, because their owners must
 * exist.
 */
function applyBatches(input: PlanInput, writes: readonly Change[]): Batch[] {
  const own = writes.filter((change) => change.action !== 'delete' && change.owner === undefined);
  const children = writes.filter((change) => change.action !== 'delete' && change.owner !== undefined);
  return [own, children].flatMap((changes) => batchByRank(input.rank, changes, 'apply'));
}

/** Returns the batches of deletions: first children, then their owners, each in the reverse order of kinds. */
function deleteBatches(input: PlanInput, allowed: readonly KubeObject[]): Batch[] {
  const isChild = (object: KubeObject): boolean => labelOf(object, OWNER) !== undefined;
  const [children, own] = [allowed.filter(isChild), allowed.filter((object) => !isChild(object))];
  return [children, own].flatMap((objects) =>
    batchByRank(
      input.rank,
      objects.map((object) => deletionOf(input, object)),
      'delete',
    ).reverse(),
  );
}

export function batchByRank(rankOf: PlanInput['rank'], changes: readonly Change[], verb: string): Batch[] {
  const ranks = [...new Set(changes.map((change) => rankOf(change.resource)))].sort((a, b) => a - b);
  return ranks.map((rank) => {
    const members = changes
      .filter((change) => rankOf(change.resource) === rank)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const kinds = [...new Set(members.map((change) => change.resource.kind))];
    return { name: `${verb} ${kinds.join(', ')}`, changes: members };
  });
}

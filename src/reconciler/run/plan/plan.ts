// Sorts the differences into batches of changes and applies the limits: frozen data that prints.
// Knows neither clusters nor specs; the same inputs give the same plan, byte for byte.

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
      /** Reads the long values that `object` lacks. */
      readonly contents?: ReadContents;
      /** Of the living object; a precondition. Absent on create. */
      readonly uid?: string;
      /** The owning custom resource, which must have been applied. */
      readonly owner?: ResourceId;
      /** True: the living object is deleted first, for nothing else can change it. */
      readonly replaces?: true;
      /** What stands in the way of the change, and goes with it. */
      readonly evicted?: Evicted;
      /** True: nothing differs, but an earlier run may have sent a deletion of it that is still under way. */
      readonly touched?: true;
      /** What the server says about it; absent where it was not asked. */
      readonly preview?: Preview;
      /** Keys of a Secret whose values are made when it is applied. */
      readonly random?: Readonly<Record<string, number>>;
      /** The user to make it as; absent: the reconciler itself. */
      readonly account?: string;
      readonly diff: readonly Difference[];
    }
  | {
      readonly action: 'delete';
      readonly resource: ResourceId;
      readonly key: string;
      /** Value of its source label. */
      readonly source: string;
      readonly uid: string;
      /** What refers to it as it lives: the deletion waits for their changes. */
      readonly referrers: readonly ResourceId[];
      readonly account?: string;
      readonly diff: readonly Difference[];
    };

interface Batch {
  /** Why these come together: `apply Namespace`, `delete Deployment`, ... */
  readonly name: string;
  readonly changes: readonly Change[];
}

/** A change that is not made, because it is not what was planned, or not planned at all; what depends on it is not, either. */
export interface Withheld {
  readonly action: 'failed' | 'held';
  readonly resource: ResourceId;
  readonly deletion: boolean;
  /** The owning custom resource, of children. */
  readonly owner?: ResourceId;
  readonly error: { readonly code: string; readonly message: string };
}

export interface Plan {
  readonly batches: readonly Batch[];
  /** Set by an admission alone (plan-admission.ts). */
  readonly withheld?: readonly Withheld[];
  /** Live objects of our set that nothing desires, and that stay all the same; and what is asked to be left alone. */
  readonly held: readonly Held[];
  readonly unchanged: readonly ResourceId[];
  /** Deletions that wait for approval, by source. */
  readonly waiting: readonly DeletionList[];
  /** Those that would wait, had nobody approved them. */
  readonly approved: readonly ApprovedList[];
  /** Those that need no approval. */
  readonly within: readonly DeletionList[];
}

export interface PlanInput {
  readonly compared: readonly Compared[];
  /** Objects that differ and are kept unchanged because their source waits. */
  readonly awaiting: readonly Held[];
  readonly deletions: Deletions;
  readonly lists: readonly DeletionList[];
  /** Deletions that an earlier run has begun, and of which nobody knows whether they have reached the server; by key. */
  readonly leaving: ReadonlyMap<string, { readonly uid: string }>;
  /** What refers to an object as it lives. */
  readonly referrers: (target: ResourceId) => readonly ResourceId[];
  readonly accountOf: AccountOf;
  /** Position of a kind in the order of applying; deletions go the other way round. */
  readonly rank: (id: ResourceId) => number;
}

export function plan(input: PlanInput): Plan {
  const { compared } = input;
  const lists = sortLists(input.lists);
  const { going, held, facts } = input.deletions;
  const same = compared.filter((each) => each.verdict === 'unchanged' && !isTouched(input, each));
  const unchanged = same.map(({ desired }) => desired.id);
  const waiting = listsByUid(lists.waiting);
  const isWaiting = (object: KubeObject): boolean => waiting.has(object.metadata.uid ?? '');
  const waits = (object: KubeObject) => (isWaiting(object) ? 'its deletion waits for approval' : undefined);
  const inhabited = withInhabitants(facts.inhabited, going.filter(isWaiting));
  const decided = going.map((object) => {
    // What waits itself is let go by its own list, which names what goes along.
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

/** What is deleted to be created anew; what was deleted before and is not gone yet is decided. */
export function replacedOf({ verdict, live }: Compared): KubeObject | undefined {
  return verdict === 'replace' && live?.metadata.deletionTimestamp === undefined ? live : undefined;
}

/** It gets another version by a write, so that a deletion which arrives late fails on the one that it names. */
function isTouched({ leaving }: PlanInput, { desired, live }: Compared): boolean {
  const { uid, deletionTimestamp } = live?.metadata ?? {};
  return uid !== undefined && deletionTimestamp === undefined && leaving.get(desired.key)?.uid === uid;
}

function writeOf(input: PlanInput, compared: Compared): Change[] {
  const { desired, live, verdict, diff, preview, evicted } = compared;
  const { object, contents, id: resource, key, owner, random } = desired;
  const touched = verdict === 'unchanged' && isTouched(input, compared);
  if (verdict === 'unchanged' && !touched) return [];
  return [
    {
      action: verdict === 'create' ? 'create' : 'update',
      resource,
      key,
      object,
      ...(contents && { contents }),
      uid: verdict === 'create' ? undefined : live?.metadata.uid,
      owner,
      random,
      replaces: verdict === 'replace' ? true : undefined,
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

/** What Git declares comes first, in order of kinds; then the children, whose owners live by then. */
function applyBatches(input: PlanInput, writes: readonly Change[]): Batch[] {
  const own = writes.filter((change) => change.action !== 'delete' && change.owner === undefined);
  const children = writes.filter((change) => change.action !== 'delete' && change.owner !== undefined);
  return [own, children].flatMap((changes) => batchByRank(input.rank, changes, 'apply'));
}

/** Children before their owners, and either in the reverse order of kinds. */
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

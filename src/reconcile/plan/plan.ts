// Sorts the differences into batches of changes and applies the limits: frozen data that prints.
// Knows neither clusters nor specs; the same inputs give the same plan, byte for byte.

import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import type { Difference } from '../../kube/ownership/differences.ts';
import { formatId, type ResourceId } from '../../std/problem.ts';
import type { Compared, Evicted, Preview } from '../diff/compared.ts';
import { labelOf, OWNER, ownerLabel } from '../labels.ts';
import { type DeletionsInput, deletionsOf, type Held } from '../prune/deletions.ts';
import { type Deletion, type Guarded, type GuardLimits, guard } from '../prune/guard.ts';
import type { Approval } from '../records/approval.ts';
import type { AccountOf } from './accounts.ts';

export type Change =
  | {
      readonly action: 'create' | 'update';
      readonly resource: ResourceId;
      readonly key: string;
      readonly object: KubeObject;
      /** Of the living object; a precondition. Absent on create. */
      readonly uid?: string;
      /** The owning custom resource, which must have been applied. */
      readonly owner?: ResourceId;
      /** True: the living object is deleted first, for nothing else can change it. */
      readonly replaces?: true;
      /** What others have put into lists, and goes with the change. */
      readonly evicted?: Evicted;
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
      readonly uid: string;
      /** What refers to it as it lives: the deletion waits for their changes. */
      readonly referrers: readonly ResourceId[];
      readonly account?: string;
      readonly diff: readonly Difference[];
    };

export interface Batch {
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
  /** Living objects of our set that nothing desires, and that stay all the same; and what is asked to be left alone. */
  readonly held: readonly Held[];
  readonly unchanged: readonly ResourceId[];
  /** Deletions that wait for approval. */
  readonly guarded?: Guarded;
  /** Deletions beyond the limits that are in the batches, as they are approved. */
  readonly approved?: { readonly guarded: Guarded; readonly approval: Approval };
}

export interface PlanInput extends DeletionsInput {
  readonly compared: readonly Compared[];
  /** All living objects of our set. */
  readonly owned: readonly KubeObject[];
  readonly limits: GuardLimits;
  readonly accountOf: AccountOf;
  /** Position of a kind in the order of applying; deletions go the other way round. */
  readonly rank: (id: ResourceId) => number;
  /** Given for exactly what goes beyond the limits. */
  readonly approval?: Approval;
}

export function plan(input: PlanInput): Plan {
  const unchanged = input.compared.filter(({ verdict }) => verdict === 'unchanged').map(({ desired }) => desired.id);
  const { going, held } = deletionsOf({ ...input, surplus: [...input.surplus].sort(byKey) });
  const deletions = going.map((object) => deletionOf(input, object, input.referrers.living(idOf(object))));
  // What was deleted before and is not gone yet is decided.
  const departing = new Set(going.filter(isDeparting).map((object) => keyOf(idOf(object))));
  const replacements = input.compared.filter(({ verdict, live }) => verdict === 'replace' && !isDeparting(live));
  const replaced = replacements.flatMap(({ live }) => (live === undefined ? [] : [deletionOf(input, live, [])]));
  const deciding = [...deletions.filter(({ key }) => !departing.has(key)), ...replaced];
  const asItem = guardItem(input.owned, deletions, new Set(replaced.map(({ key }) => key)));
  const guarded = guard(deciding.map(asItem), countKinds(input.owned), input.limits);
  const waiting = guarded === undefined || input.approval !== undefined ? [] : deciding;
  const waits = new Set(waiting.map(({ key }) => key));
  const allowed = deletions.filter(({ key }) => !waits.has(key) && !departing.has(key));
  const writes = input.compared
    .filter(({ desired }) => !waits.has(desired.key))
    .flatMap((each) => writeOf(input, each));
  const unapproved = waiting.map(({ resource, key }): Held => {
    const what = deletions.some((change) => change.key === key) ? 'deletion' : 'replacement';
    return { resource, reason: `its ${what} waits for approval` };
  });
  const batches = [...applyBatches(input, writes), ...deleteBatches(input, allowed)];
  const leaving = going.filter(isDeparting).map(leavingOf);
  return { batches, held: [...held, ...leaving, ...unapproved], unchanged, ...guardVerdict(guarded, input.approval) };
}

function isDeparting(object: KubeObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

/** To ask once more would change nothing. */
function leavingOf(object: KubeObject): Held {
  const finalizers = object.metadata.finalizers ?? [];
  const waits = finalizers.length === 0 ? '' : `, and waits for ${finalizers.join(', ')}`;
  return { resource: idOf(object), reason: `it is being deleted${waits}`, leaving: true };
}

function guardVerdict(
  guarded: Guarded | undefined,
  approval: Approval | undefined,
): Pick<Plan, 'guarded' | 'approved'> {
  if (guarded === undefined) return {};
  return approval === undefined ? { guarded } : { approved: { guarded, approval } };
}

function writeOf({ accountOf }: PlanInput, { desired, live, verdict, diff, preview, evicted }: Compared): Change[] {
  const { object, id: resource, key, owner, random } = desired;
  if (verdict === 'unchanged') return [];
  return [
    {
      action: verdict === 'create' ? 'create' : 'update',
      resource,
      key,
      object,
      uid: verdict === 'create' ? undefined : live?.metadata.uid,
      owner,
      random,
      replaces: verdict === 'replace' ? true : undefined,
      evicted,
      preview,
      ...by(accountOf(object)),
      diff,
    },
  ];
}

function deletionOf({ accountOf }: PlanInput, object: KubeObject, referrers: readonly ResourceId[]): Change {
  const resource = idOf(object);
  const { uid = '' } = object.metadata;
  return { action: 'delete', resource, key: keyOf(resource), uid, referrers, ...by(accountOf(object)), diff: [] };
}

function by(account: string | undefined): { account?: string } {
  return account === undefined ? {} : { account };
}

/** A child whose owner goes too is no decision of its own. */
function guardItem(
  owned: readonly KubeObject[],
  deletions: readonly Change[],
  replaced: ReadonlySet<string>,
): (change: Change) => Deletion {
  const living = new Map(owned.map((object) => [keyOf(idOf(object)), object]));
  const going = new Set(
    deletions.map(({ resource }) => `${resource.namespace ?? ''}/${ownerLabel(resource.kind, resource.name)}`),
  );
  return (change) => {
    const { resource } = change;
    const object = living.get(change.key);
    const owner = object === undefined ? undefined : labelOf(object, OWNER);
    const follows = owner !== undefined && going.has(`${resource.namespace ?? ''}/${owner}`);
    const uid = change.action === 'delete' ? change.uid : '';
    const anew = replaced.has(change.key) ? { replaced: true as const } : {};
    return { id: formatId(resource), kind: resource.kind, uid, follows, ...anew };
  };
}

function countKinds(objects: readonly KubeObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** What Git declares comes first, in order of kinds; then the children, whose owners live by then. */
function applyBatches(input: PlanInput, writes: readonly Change[]): Batch[] {
  const own = writes.filter((change) => change.action !== 'delete' && change.owner === undefined);
  const children = writes.filter((change) => change.action !== 'delete' && change.owner !== undefined);
  return [own, children].flatMap((changes) => byRank(input, changes, 'apply'));
}

/** Children before their owners, and either in the reverse order of kinds. */
function deleteBatches(input: PlanInput, deletions: readonly Change[]): Batch[] {
  const owned = new Map(input.owned.map((object) => [keyOf(idOf(object)), labelOf(object, OWNER) !== undefined]));
  const children = deletions.filter((change) => owned.get(change.key) === true);
  const own = deletions.filter((change) => owned.get(change.key) !== true);
  return [children, own].flatMap((changes) => byRank(input, changes, 'delete').reverse());
}

function byRank(input: PlanInput, changes: readonly Change[], verb: string): Batch[] {
  const ranks = [...new Set(changes.map((change) => input.rank(change.resource)))].sort((a, b) => a - b);
  return ranks.map((rank) => {
    const members = changes
      .filter((change) => input.rank(change.resource) === rank)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const kinds = [...new Set(members.map((change) => change.resource.kind))];
    return { name: `${verb} ${kinds.join(', ')}`, changes: members };
  });
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(idOf(a)) < keyOf(idOf(b)) ? -1 : 1;
}

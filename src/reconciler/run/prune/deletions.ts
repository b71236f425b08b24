// Decides which undeclared live objects a run may delete, and why it keeps the remaining objects. A kept object may
// require other objects, so the decision is repeated until it no longer changes.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { heldOwner } from '../desire/desire.ts';
import { formatGroupKind, groupKindOf } from '../observe/snapshot.ts';
import { protectionOf } from './left-alone.ts';
import { type DeletionDecision, type DeletionFacts, mayDelete, ownerOf, ownersOf } from './may-delete.ts';
import type { Referrers } from './referrers.ts';

export interface Held {
  readonly resource: ResourceId;
  readonly owner?: ResourceId;
  readonly reason: string;
  /** True if a kept object still refers to the object. */
  readonly referredTo?: true;
  /** True if the object is already being deleted, and still exists. */
  readonly leaving?: true;
}

/** Facts that are known before any deletion is decided. */
export interface DeletionsInput extends Omit<DeletionFacts, 'protectedOwners' | 'referrers' | 'inhabited' | 'waits'> {
  readonly surplus: readonly KubeObject[];
  readonly referrers: Pick<Referrers, 'desired'>;
  /** Objects that the run writes or leaves unchanged, except objects in `surplus`. */
  readonly staying: readonly ResourceId[];
}

export interface Deletions {
  /** Objects that may be deleted, some of them only with an approval. */
  readonly going: readonly KubeObject[];
  readonly held: readonly Held[];
  /** Facts of the last decision. If a list waits for approval, a second decision needs these facts. */
  readonly facts: DeletionFacts;
}

export function deletionsOf(input: DeletionsInput): Deletions {
  const going = new Map(input.surplus.map((object) => [keyOfObject(object), object]));
  const stays = new Map<string, readonly [KubeObject, Stays]>();
  const protectedOwners = ownersOfProtected(input.surplus);
  let facts = factsNow(input, protectedOwners, going, stays);
  for (let before = -1; before !== stays.size; facts = factsNow(input, protectedOwners, going, stays)) {
    before = stays.size;
    for (const [key, object] of going) {
      const decision = mayDelete(object, facts);
      if (decision.decision === 'stay' && decision.leaving === undefined) {
        stays.set(key, [object, decision]);
        going.delete(key);
      }
    }
  }
  const surplus = new Set(input.surplus.map((object) => keyOfObject(object)));
  const asked = [...input.leftAlone].filter(([key]) => !surplus.has(key)).map(([, each]) => each);
  const decided = [...going.values()].map((object) => [object, mayDelete(object, facts)] as const);
  const leaving = decided.filter((each): each is readonly [KubeObject, Stays] => each[1].decision === 'stay');
  return {
    going: decided.flatMap(([object, { decision }]) => (decision === 'stay' ? [] : [object])),
    held: [...asked, ...[...stays.values(), ...leaving].map(heldBy)],
    facts,
  };
}

type Stays = Extract<DeletionDecision, { decision: 'stay' }>;

function heldBy([object, { decision: _decision, ...rest }]: readonly [KubeObject, Stays]): Held {
  return { resource: idOf(object), owner: ownerOf(object), ...rest };
}

/**
 * Returns the owners of protected objects. If such an owner were deleted, the garbage collector would delete the
 * protected object.
 */
function ownersOfProtected(surplus: readonly KubeObject[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const object of surplus) {
    const protection = protectionOf(object);
    if (protection === undefined) continue;
    const { namespace = '' } = object.metadata;
    for (const owner of ownersOf(object)) {
      reasons.set(`${namespace}/${owner}`, `its child ${formatId(idOf(object))} has ${protection}`);
    }
  }
  return reasons;
}

/**
 * Returns the facts for the next decision. If an object is kept, the run also keeps its children, the objects to which
 * it refers, and its namespace.
 */
function factsNow(
  input: DeletionsInput,
  protectedOwners: ReadonlyMap<string, string>,
  going: ReadonlyMap<string, unknown>,
  stays: ReadonlyMap<string, readonly [KubeObject, Stays]>,
): DeletionFacts {
  const kept = [...stays.values()].map(([object]) => idOf(object));
  const staying = [...input.staying, ...[...input.leftAlone.values()].map(({ resource }) => resource), ...kept];
  return {
    ...input,
    protectedOwners,
    heldOwners: new Set([...input.heldOwners, ...kept.map(heldOwner)]),
    referrers: (target) => input.referrers.desired(target).filter((referrer) => !going.has(keyOf(referrer))),
    inhabited: {
      namespaces: new Set(staying.flatMap(({ namespace }) => namespace ?? [])),
      kinds: new Set(staying.map((id) => formatGroupKind(groupKindOf(id)))),
    },
    waits: () => undefined,
  };
}

/**
 * Adds the namespaces and kinds of objects that wait for approval. Otherwise the deletion of their namespace or
 * definition would delete these objects without approval.
 */
export function withInhabitants(
  { namespaces, kinds }: DeletionFacts['inhabited'],
  waiting: readonly KubeObject[],
): DeletionFacts['inhabited'] {
  return {
    namespaces: new Set([...namespaces, ...waiting.flatMap(({ metadata }) => metadata.namespace ?? [])]),
    kinds: new Set([...kinds, ...waiting.map((object) => formatGroupKind(groupKindOf(object)))]),
  };
}

// Sorts the deletions of a plan by source, because each source has its own limits, faults and approval.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { formatId } from '#std/problem.ts';
import { heldOwner } from '../desire/desire.ts';
import type { GuardLimits } from '../instance.ts';
import { labelOf, labelValue, OWNER } from '../labels.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Contents } from './contents.ts';
import type { Faults } from './faults.ts';
import { type Deletion, type DeletionList, type Holdings, listOf, unrecordedList } from './guard.ts';
import { ownersOf, sourceOf } from './may-delete.ts';

export interface ListsInput {
  /** Objects that may be deleted. Objects to be replaced are in `replaced`. */
  readonly going: readonly KubeObject[];
  readonly replaced: readonly KubeObject[];
  /** All live objects of our ApplySet. */
  readonly owned: readonly KubeObject[];
  readonly loaded: readonly Sourced[];
  /** Values of the source label of the configured sources. */
  readonly sources: ReadonlySet<string>;
  readonly faults: Faults;
  /** Returns true if this instance has created the object, according to `membershipOf`. */
  readonly recorded: (object: KubeObject) => boolean;
  /** Foreign objects that are deleted with another object, by key of the other object. */
  readonly contents: ReadonlyMap<string, Contents>;
  readonly limits: GuardLimits;
}

/** Returns the lists, sorted by source. Objects for which `recorded` returns false have separate lists. */
export function listsOf(input: ListsInput): readonly DeletionList[] {
  const { going, replaced, faults, limits } = input;
  const replacedKeys = new Set(replaced.map((object) => keyOfObject(object)));
  const owners = new Map(going.map((object) => [heldOwner(idOf(object)), object]));
  // A child that is deleted with its owner is in the list of the owner.
  const leadOf = (object: KubeObject): KubeObject => ownerAmong(object, owners) ?? object;
  const itemOf = (object: KubeObject): Deletion => deletionItem(input, object, leadOf(object), replacedKeys);
  const bySource = [...Map.groupBy([...going, ...replaced], (object) => sourceOf(leadOf(object)))];
  return bySource
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([source, objects]) => {
      const [recorded, unrecorded] = [true, false].map((is) =>
        objects.filter((object) => input.recorded(leadOf(object)) === is).map(itemOf),
      ) as [Deletion[], Deletion[]];
      const known = { holdings: holdingsOf(input, source), limits, faults: faults.get(source) ?? [] };
      return [
        ...(recorded.length === 0 ? [] : [listOf(source, recorded, known)]),
        ...(unrecorded.length === 0 ? [] : [unrecordedList(source, unrecorded)]),
      ];
    });
}

function ownerAmong(object: KubeObject, owners: ReadonlyMap<string, KubeObject>): KubeObject | undefined {
  const { namespace = '' } = object.metadata;
  const [owner] = ownersOf(object).flatMap((label) => owners.get(`${namespace}/${label}`) ?? []);
  return owner;
}

function deletionItem(
  { contents }: ListsInput,
  object: KubeObject,
  lead: KubeObject,
  replacedKeys: ReadonlySet<string>,
): Deletion {
  const id = idOf(object);
  const [key, { uid = '' }] = [keyOf(id), object.metadata];
  const own = labelOf(object, OWNER) === undefined;
  return {
    id: formatId(id),
    kind: id.kind,
    uid,
    role: lead !== object ? 'follows' : own ? 'own' : 'child',
    owner: lead === object ? undefined : formatId(idOf(lead)),
    replaced: replacedKeys.has(key) ? true : undefined,
    takes: nonEmpty(contents.get(key)?.takes),
    mayTake: nonEmpty(contents.get(key)?.unlisted),
  };
}

function nonEmpty(words: readonly string[] = []): readonly string[] | undefined {
  return words.length === 0 ? undefined : words;
}

function holdingsOf({ owned, loaded, sources }: ListsInput, source: string): Holdings {
  const ofSource = owned.filter((object) => sourceOf(object) === source);
  const kinds = Map.groupBy(ofSource, ({ kind }) => kind);
  return {
    own: ofSource.filter((object) => labelOf(object, OWNER) === undefined).length,
    kinds: new Map([...kinds].map(([kind, each]) => [kind, each.length])),
    declares: loaded.filter((each) => each.byHand !== true && labelValue(each.source) === source).length,
    configured: sources.has(source),
  };
}

export type ApprovedList = DeletionList & Required<Pick<DeletionList, 'approval'>>;

export interface SortedLists {
  readonly waiting: readonly DeletionList[];
  readonly approved: readonly ApprovedList[];
  readonly within: readonly DeletionList[];
}

export function sortLists(lists: readonly DeletionList[]): SortedLists {
  const needing = lists.filter(({ reasons }) => reasons.length > 0);
  return {
    waiting: needing.filter(({ approval }) => approval === undefined),
    approved: needing.filter((list): list is ApprovedList => list.approval !== undefined),
    within: lists.filter(({ reasons }) => reasons.length === 0),
  };
}

/** Returns a map from the uid of each listed object to its list. */
export function listsByUid(lists: readonly DeletionList[]): ReadonlyMap<string, DeletionList> {
  return new Map(lists.flatMap((list) => list.deletions.map(({ uid }) => [uid, list])));
}

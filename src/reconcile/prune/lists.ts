// The deletions of a plan, sorted by the source that they are of: each source has limits, faults and an approval of its own.
// Knows neither clusters nor specs.

import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import { formatId } from '../../std/problem.ts';
import type { GuardLimits } from '../instance.ts';
import { labelOf, labelValue, OWNER, ownerLabel } from '../labels.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Faults } from './faults.ts';
import { type Deletion, type DeletionList, type Holdings, listOf } from './guard.ts';
import { ownersOf, sourceOf } from './may-delete.ts';

export interface ListsInput {
  /** What may go, and what may be replaced. */
  readonly going: readonly KubeObject[];
  readonly replaced: readonly KubeObject[];
  /** All live objects of our set. */
  readonly owned: readonly KubeObject[];
  readonly loaded: readonly Sourced[];
  /** Values of the source label that the configuration knows. */
  readonly sources: ReadonlySet<string>;
  readonly faults: Faults;
  /** By key: what goes along and is not ours. */
  readonly contents: ReadonlyMap<string, readonly string[]>;
  readonly limits: GuardLimits;
}

/** By source, sorted. */
export function listsOf(input: ListsInput): readonly DeletionList[] {
  const { going, replaced, faults, limits } = input;
  const all = [...going, ...replaced];
  const anew = new Set(replaced.map((object) => keyOf(idOf(object))));
  const owners = new Set(
    going.map(({ kind, metadata }) => `${metadata.namespace ?? ''}/${ownerLabel(kind, metadata.name)}`),
  );
  const itemOf = (object: KubeObject): Deletion => deletionItem(input, object, owners, anew);
  const bySource = [...Map.groupBy(all, sourceOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return bySource.map(([source, objects]) =>
    listOf(source, objects.map(itemOf), {
      holdings: holdingsOf(input, source),
      limits,
      faults: faults.get(source) ?? [],
    }),
  );
}

function deletionItem(
  { contents }: ListsInput,
  object: KubeObject,
  owners: ReadonlySet<string>,
  anew: ReadonlySet<string>,
): Deletion {
  const id = idOf(object);
  const [key, { namespace = '', uid = '' }] = [keyOf(id), object.metadata];
  const follows = ownersOf(object).some((owner) => owners.has(`${namespace}/${owner}`));
  const own = labelOf(object, OWNER) === undefined;
  return {
    id: formatId(id),
    kind: id.kind,
    uid,
    role: follows ? 'follows' : own ? 'own' : 'child',
    replaced: anew.has(key) ? true : undefined,
    takes: contents.get(key),
  };
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

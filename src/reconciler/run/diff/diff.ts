// Compares desired objects with live objects, by the fields that this instance owns.

import { longValuesOf, shortenObject } from '#kubernetes/rules/large-values.ts';
import { normalise } from '#kubernetes/rules/normalise.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { compare } from '#kubernetes/rules/ownership/compare.ts';
import { type Conceded, concede } from '#kubernetes/rules/ownership/concede.ts';
import { differences } from '#kubernetes/rules/ownership/differences.ts';
import { jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Desired } from '../desire/desire.ts';
import { labelOf, PART_OF } from '../labels.ts';
import { isLarge } from '../observe/large-contents.ts';
import { NO_REUSE, type Reuse } from '../reuse.ts';
import type { Compared } from './compared.ts';
import { withoutEdited } from './evictions.ts';
import { type FieldOfOther, type FieldRules, fieldStates } from './field-states.ts';
import { maskSecrets } from './masked.ts';

export interface DiffInput extends FieldRules {
  readonly desired: readonly Desired[];
  readonly living: (id: ResourceId) => KubeObject | undefined;
  /** All objects of the snapshot. */
  readonly live: readonly KubeObject[];
  readonly typeOf: (id: ResourceId) => MergeType | undefined;
  readonly applySet: string;
  readonly reuse?: Reuse | undefined;
}

export interface Diff {
  readonly compared: readonly Compared[];
  /** Live objects of our ApplySet that are not desired. */
  readonly surplus: readonly KubeObject[];
}

export function diff(input: DiffInput): Diff {
  const found = input.desired.map(({ id }) => input.living(id));
  const compared = input.desired.map((desired, index) => compareAgain(input, desired, found[index]));
  const desiredObjects = new Set(found);
  const surplus = input.live.filter((object) => isMember(object, input.applySet) && !desiredObjects.has(object));
  return { compared, surplus };
}

function isMember(object: KubeObject, applySet: string): boolean {
  return labelOf(object, PART_OF) === applySet;
}

function compareAgain(input: DiffInput, desired: Desired, live: KubeObject | undefined): Compared {
  const { typeOf, manager, force, reuse = NO_REUSE } = input;
  const { key, id, object, contents, owner, random } = desired;
  const type = typeOf(id);
  return reuse.result({
    stage: 'compared',
    key,
    given: [object, owner, random, live, type, manager, force],
    questions: {},
    work: () => compareOne(input, desired, live),
    // Results with long values, or with contents of foreign Secrets and ConfigMaps, must not stay in memory.
    keeps: () => contents === undefined && (live === undefined || !isLarge(id) || isMember(live, input.applySet)),
    // `contents` is a function, which cannot be compared. It depends only on the object.
    equal: (a, b) => jsonEquals(withoutContents(a), withoutContents(b)),
  });
}

function withoutContents({ desired: { contents: _contents, ...desired }, ...compared }: Compared): unknown {
  return { ...compared, desired };
}

function compareOne(input: DiffInput, desired: Desired, found: KubeObject | undefined): Compared {
  const type = input.typeOf(desired.id);
  const normal = withoutLongValues({ ...desired, object: normalise(desired.object, type) });
  const live = found && shortenObject(found);
  if (live === undefined) return { desired: normal, result: 'create', diff: [] };
  if (desired.random !== undefined) {
    const paths = Object.keys(desired.random).map((key) => `.data.${key}`);
    return {
      desired: normal,
      live,
      result: 'changed',
      diff: paths.map((path) => ({ path, after: '*** (generated at random)' })),
    };
  }
  if (type === undefined) return { desired: normal, live, result: 'unknown', diff: [] };
  const whole = compareWhole(normal, live, type, input.manager);
  if (whole.result === 'unchanged') return whole;
  const stateOf = fieldStates(input, normal.object, desired.owner !== undefined);
  const keeps = (path: string, manager: string): boolean => stateOf(path, manager) !== 'set-back';
  const { object, conceded, taken } = concede(normal.object, live, type, input.manager, keeps);
  const fields = [...conceded, ...taken].map(
    (field: Conceded): FieldOfOther => ({ ...field, state: stateOf(field.path, field.manager) }),
  );
  const rest = conceded.length === 0 ? whole : compareWhole({ ...normal, object }, live, type, input.manager);
  return withoutEdited(input, fields.length === 0 ? rest : { ...rest, fields }, type);
}

/** Replaces long values by stand-ins. Objects then compare equal whether their long values are in memory or not. */
function withoutLongValues(desired: Desired): Desired {
  const object = shortenObject(desired.object);
  if (object === desired.object) return desired;
  const inMemory = longValuesOf(desired.object);
  return { ...desired, object, contents: async () => new Map([...((await desired.contents?.()) ?? []), ...inMemory]) };
}

function compareWhole(desired: Desired, live: KubeObject, type: MergeType, manager: string): Compared {
  const { result } = compare(desired.object, live, type, manager);
  const changes = result === 'unchanged' ? [] : differences(desired.object, live, type, manager);
  return { desired, live, result, diff: maskSecrets(desired.id.kind, changes) };
}

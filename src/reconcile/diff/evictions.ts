// What stands in the way of what Git declares: an item of a list of ours whose key another manager has changed, and items
// and fields for which the server refuses ours. They are removed, where Git wins. Knows nothing about batches.

import { idOf, type KubeObject } from '../../kube/object.ts';
import type { MergeType } from '../../kube/openapi.ts';
import { differences } from '../../kube/ownership/differences.ts';
import { type ForeignPart, foreignParts, withPartsOwned } from '../../kube/ownership/foreign-parts.ts';
import { placeNamed } from '../../kube/ownership/named-place.ts';
import { pointerOf } from '../../kube/ownership/place.ts';
import { serverSideApply } from '../../kube/ownership/write/apply.ts';
import { type Json, jsonEquals } from '../../std/json.ts';
import type { Cluster, JsonPatchOperation, PatchOptions } from '../ports.ts';
import type { RefusedField } from '../prune/replacement.ts';
import type { Compared, Evicted } from './compared.ts';
import { type FieldOfOther, type FieldRules, fieldStates } from './field-states.ts';

/** The same, with the removal of items whose key was changed. */
export function withoutEdited(rules: FieldRules, compared: Compared, type: MergeType): Compared {
  const going = removable(rules, compared, type).filter(({ edited, applied }) => edited && !applied);
  return going.length === 0 ? compared : evicting(rules, compared, type, going);
}

/** Those that the server's refusal may be about; undefined where there are none. */
export function withoutInTheWay(
  rules: FieldRules,
  compared: Compared,
  type: MergeType,
  refused: readonly RefusedField[],
): Compared | undefined {
  const { desired, live } = compared;
  const merged = live && mergedWith(live, desired.object, type, rules.manager);
  if (merged === undefined) return undefined;
  const places = refused.map(({ field, forbidden }) => ({ place: placeNamed(merged, type, field), forbidden }));
  const going = removable(rules, compared, type).filter(({ elements }) =>
    places.some(({ place, forbidden }) =>
      elements.at(-1)?.startsWith('k:') ? isInList(elements, place) : isBeside(elements, place, forbidden),
    ),
  );
  return going.length === 0 ? undefined : evicting(rules, compared, type, going);
}

/** The refusal is about the list of the item, or about something in it. */
function isInList(item: readonly string[], place: readonly string[]): boolean {
  const list = item.slice(0, -1);
  return list.every((element, index) => place[index] === element);
}

/** It is refused itself, or is what another field may not stand beside. */
function isBeside(field: readonly string[], place: readonly string[], forbidden: boolean): boolean {
  if (field.length !== place.length) return false;
  const compared = forbidden ? field.slice(0, -1) : field;
  return compared.every((element, index) => place[index] === element);
}

function removable(rules: FieldRules, { desired, live }: Compared, type: MergeType): readonly ForeignPart[] {
  const child = desired.owner !== undefined;
  if (live === undefined || !(rules.force || child)) return [];
  const stateOf = fieldStates(rules, desired.object, child);
  return foreignParts(desired.object, live, type, rules.manager).filter(
    ({ elements, manager = '' }) => stateOf(pointerOf(elements), manager) === 'set-back',
  );
}

function evicting(
  { manager }: FieldRules,
  compared: Compared,
  type: MergeType,
  parts: readonly ForeignPart[],
): Compared {
  const { desired, live, fields = [] } = compared;
  if (live === undefined) return compared;
  const evicted = { manager, parts: parts.map(({ elements }) => elements) };
  const set = parts.map(({ elements, manager: other = 'unknown' }): FieldOfOther => {
    return { path: pointerOf(elements), pointer: '', manager: other, state: 'set-back' };
  });
  const diff = differences(desired.object, owning(live, evicted), type, manager);
  return { ...compared, diff, evicted, fields: [...fields, ...set] };
}

function owning(live: KubeObject, { parts, manager }: Evicted): KubeObject {
  const managedFields = [...withPartsOwned(live, parts, manager)];
  return { ...live, metadata: { ...live.metadata, managedFields } };
}

/** Whether the server would take the object without them. Throws Failure as `Cluster.patch` does. */
export async function tryEvicting(
  cluster: Pick<Cluster, 'patch'>,
  { desired, live, evicted }: Compared,
  type: MergeType,
  as: string | undefined,
): Promise<void> {
  if (live === undefined || evicted === undefined) return;
  const merged = mergedWith(owning(live, evicted), desired.object, type, evicted.manager);
  if (merged === undefined) return;
  await cluster.patch(live, operationsBetween(live, merged), { dryRun: true, as });
}

/** What a forced apply would store; undefined where it would not come as far as the validation. */
function mergedWith(live: KubeObject, applied: KubeObject, type: MergeType, manager: string): KubeObject | undefined {
  const { apiVersion } = applied;
  const result = serverSideApply({ live, applied, type, manager, apiVersion, force: true, time: '' });
  return 'object' in result ? result.object : undefined;
}

function operationsBetween(live: KubeObject, merged: KubeObject): readonly JsonPatchOperation[] {
  const { apiVersion: _version, kind: _kind, metadata, status: _status, ...content } = merged;
  const whole = Object.entries(content).map(([key, value]) => [`/${key}`, live[key], value] as const);
  const marks = (['labels', 'annotations'] as const).map(
    (name) => [`/metadata/${name}`, live.metadata[name], metadata[name]] as const,
  );
  return [...whole, ...marks].flatMap(([path, before, value]) =>
    value === undefined || jsonEquals(before ?? null, value) ? [] : [operation(path, value)],
  );
}

function operation(path: string, value: Json): JsonPatchOperation {
  return { op: 'add', path, value };
}

/** Makes them ours: the apply that follows does not have them, so that they go in the same moment as ours come. */
export async function takeParts(
  cluster: Pick<Cluster, 'get' | 'patch'>,
  object: KubeObject,
  { parts, manager }: Evicted,
  options: Pick<PatchOptions, 'as'>,
): Promise<void> {
  const live = await cluster.get(idOf(object));
  if (live === undefined || live.metadata.uid !== object.metadata.uid) return;
  const value: Json = [...withPartsOwned(live, parts, manager)];
  await cluster.patch(live, [{ op: 'replace', path: '/metadata/managedFields', value }], options);
}

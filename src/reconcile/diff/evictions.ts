// Items of lists that stand in the way of what Git declares: one of ours whose key another manager has changed, or one for
// which the server refuses ours. They are removed, where Git wins. Knows nothing about batches.

import { idOf, type KubeObject } from '../../kube/object.ts';
import type { MergeType } from '../../kube/openapi.ts';
import { differences } from '../../kube/ownership/differences.ts';
import { type ForeignItem, foreignItems, withItemsOwned } from '../../kube/ownership/foreign-items.ts';
import { pointerOf } from '../../kube/ownership/place.ts';
import { serverSideApply } from '../../kube/ownership/write/apply.ts';
import { type Json, jsonEquals } from '../../std/json.ts';
import type { Cluster, JsonPatchOperation, PatchOptions } from '../ports.ts';
import type { Compared, Evicted } from './compared.ts';
import { type FieldOfOther, type FieldRules, fieldStates } from './field-states.ts';

/** The same, with the removal of items whose key was changed. */
export function withoutEdited(rules: FieldRules, compared: Compared, type: MergeType): Compared {
  const going = removable(rules, compared, type).filter(({ edited, applied }) => edited && !applied);
  return going.length === 0 ? compared : evicting(rules, compared, type, going);
}

/** Those that the server's refusal may be about; undefined where there are none. `fields`: as its causes name them. */
export function withoutInTheWay(
  rules: FieldRules,
  compared: Compared,
  type: MergeType,
  fields: readonly string[],
): Compared | undefined {
  const named = fields.map((field) => field.replaceAll(/\[[^\]]*\]/g, ''));
  const going = removable(rules, compared, type).filter(({ elements }) => {
    const list = elements.filter((element) => element.startsWith('f:')).map((element) => element.slice(2));
    return named.some((field) => `${field}.`.startsWith(`${list.join('.')}.`));
  });
  return going.length === 0 ? undefined : evicting(rules, compared, type, going);
}

function removable(rules: FieldRules, { desired, live }: Compared, type: MergeType): readonly ForeignItem[] {
  const child = desired.owner !== undefined;
  if (live === undefined || !(rules.force || child)) return [];
  const stateOf = fieldStates(rules, desired.object, child);
  return foreignItems(desired.object, live, type, rules.manager).filter(
    ({ elements, manager = '' }) => stateOf(pointerOf(elements), manager) === 'set-back',
  );
}

function evicting(
  { manager }: FieldRules,
  compared: Compared,
  type: MergeType,
  items: readonly ForeignItem[],
): Compared {
  const { desired, live, fields = [] } = compared;
  if (live === undefined) return compared;
  const evicted = { manager, items: items.map(({ elements }) => elements) };
  const set = items.map((item): FieldOfOther => {
    const path = pointerOf(item.elements);
    return { path, pointer: '', manager: item.manager ?? 'unknown', state: 'set-back' };
  });
  const diff = differences(desired.object, owning(live, evicted), type, manager);
  return { ...compared, diff, evicted, fields: [...fields, ...set] };
}

function owning(live: KubeObject, { items, manager }: Evicted): KubeObject {
  const managedFields = [...withItemsOwned(live, items, manager)];
  return { ...live, metadata: { ...live.metadata, managedFields } };
}

/** Whether the server would take the object without the items. Throws Failure as `Cluster.patch` does. */
export async function tryEvicting(
  cluster: Pick<Cluster, 'patch'>,
  { desired, live, evicted }: Compared,
  type: MergeType,
  as: string | undefined,
): Promise<void> {
  if (live === undefined || evicted === undefined) return;
  const { object: applied } = desired;
  const { apiVersion } = applied;
  const request = {
    live: owning(live, evicted),
    applied,
    type,
    manager: evicted.manager,
    apiVersion,
    force: true,
    time: '',
  };
  const result = serverSideApply(request);
  if (!('object' in result)) return;
  await cluster.patch(live, operationsBetween(live, result.object), { dryRun: true, as });
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

/** Makes the items ours: the apply that follows does not have them, so that they go in the same moment as ours come. */
export async function takeItems(
  cluster: Pick<Cluster, 'get' | 'patch'>,
  object: KubeObject,
  { items, manager }: Evicted,
  options: Pick<PatchOptions, 'as'>,
): Promise<void> {
  const live = await cluster.get(idOf(object));
  if (live === undefined || live.metadata.uid !== object.metadata.uid) return;
  const value: Json = [...withItemsOwned(live, items, manager)];
  await cluster.patch(live, [{ op: 'replace', path: '/metadata/managedFields', value }], options);
}

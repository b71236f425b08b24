// Removes parts of a live object that block our declaration, if Git wins. Parts are list items whose key another
// manager has changed, and fields and items because of which the server refuses our object.

import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { differences } from '#kubernetes/rules/ownership/differences.ts';
import { pathsWithin } from '#kubernetes/rules/ownership/fieldset.ts';
import {
  editedItems,
  type ForeignPart,
  foreignParts,
  withPartsOwned,
} from '#kubernetes/rules/ownership/foreign-parts.ts';
import { placeNamed } from '#kubernetes/rules/ownership/named-place.ts';
import { fieldsOf } from '#kubernetes/rules/ownership/owned.ts';
import { pointerOf } from '#kubernetes/rules/ownership/place.ts';
import { serverSideApply } from '#kubernetes/rules/ownership/write/apply.ts';
import { Failure } from '#std/failure.ts';
import { type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { Cluster, JsonPatchOperation, PatchOptions } from '../ports.ts';
import type { RefusedField } from '../prune/replacement.ts';
import type { Compared, Evicted } from './compared.ts';
import { type FieldRules, fieldStates } from './field-states.ts';
import { ignoredFields } from './ignored-fields.ts';
import { maskSecrets } from './masked.ts';

/** Adds the removal of each list item whose key another manager has changed. */
export function withoutEdited(rules: FieldRules, compared: Compared, type: MergeType): Compared {
  const { desired, live } = compared;
  if (live === undefined) return compared;
  const edited = editedItems(desired.object, live, type, rules.manager);
  const going = removable(rules, compared, edited).filter(({ owners }) => owners.every(({ applied }) => !applied));
  return going.length === 0 ? compared : evicting(rules, compared, type, going);
}

/**
 * Adds the removal of a minimal set of parts, so that the server no longer refuses the object. Returns undefined if no
 * such set exists. Throws Failure if the server neither accepts nor refuses a dry run.
 */
export async function clearWay(
  cluster: Pick<Cluster, 'patch'>,
  rules: FieldRules,
  compared: Compared,
  type: MergeType,
  refused: readonly RefusedField[],
  as: string | undefined,
): Promise<Compared | undefined> {
  const isTaken = async (parts: readonly ForeignPart[]): Promise<boolean> => {
    const asked = tryEvicting(cluster, evicting(rules, compared, type, parts), type, as);
    return asked.then(() => true, isRefusal);
  };
  const parts = partsInTheWay(rules, compared, type, refused);
  const fields = parts.filter(isField);
  for (const some of fields.length < parts.length ? [fields, parts] : [parts]) {
    if (some.length === 0 || !(await isTaken(some))) continue;
    const going = await fewest(isTaken, [], some);
    // If the server now accepts the object without any removal, the cause of its refusal is not visible in a dry run.
    return going.length === 0 ? undefined : evicting(rules, compared, type, going);
  }
  return undefined;
}

/**
 * Returns a minimal set of parts that must be removed in addition to `going`. The search halves the list, because most
 * parts block nothing (QuickXplain, Junker 2004).
 */
async function fewest(
  isTaken: (parts: readonly ForeignPart[]) => Promise<boolean>,
  going: readonly ForeignPart[],
  parts: readonly ForeignPart[],
): Promise<readonly ForeignPart[]> {
  if (await isTaken(going)) return [];
  if (parts.length === 1) return parts;
  const middle = Math.ceil(parts.length / 2);
  const [first, second] = [parts.slice(0, middle), parts.slice(middle)];
  const ofSecond = await fewest(isTaken, [...going, ...first], second);
  const ofFirst = await fewest(isTaken, [...going, ...ofSecond], first);
  return [...ofFirst, ...ofSecond];
}

function isRefusal(error: unknown): false {
  if (error instanceof Failure && error.code === 'cluster-invalid') return false;
  throw error;
}

function isField({ elements }: ForeignPart): boolean {
  return elements.at(-1)?.startsWith('f:') === true;
}

function partsInTheWay(
  rules: FieldRules,
  compared: Compared,
  type: MergeType,
  refused: readonly RefusedField[],
): readonly ForeignPart[] {
  const { desired, live, evicted } = compared;
  if (live === undefined) return [];
  const known = evicted === undefined ? live : owning(live, evicted);
  const merged = mergedWith(known, desired.object, type, rules.manager);
  if (merged === undefined) return [];
  const declared = fieldsOf(desired.object, type).set;
  const places = refused.map(({ field, forbidden }) => {
    const place = placeNamed(merged, type, field);
    return { ...place, forbidden: forbidden && pathsWithin(declared, place.elements).length > 0 };
  });
  const parts = foreignParts(desired.object, known, type, rules.manager);
  return removable(rules, compared, parts).filter((part) =>
    places.some(({ elements, isWhole, forbidden }) =>
      isField(part)
        ? isWhole && isFieldMeant(part.elements, elements, forbidden)
        : isWithin(elements, part.elements.slice(0, -1)),
    ),
  );
}

/**
 * Returns true for the refused field and for fields directly below it. If the refused field is forbidden, also returns
 * true for its sibling fields.
 */
function isFieldMeant(field: readonly string[], refused: readonly string[], forbidden: boolean): boolean {
  const above = field.slice(0, -1);
  return isSame(field, refused) || isSame(above, refused) || (forbidden && isSame(above, refused.slice(0, -1)));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isWithin(one, other);
}

function isWithin(place: readonly string[], container: readonly string[]): boolean {
  return container.every((element, index) => place[index] === element);
}

/** Returns the parts that may be removed: for each owner of the part, Git's value would win. */
function removable(rules: FieldRules, { desired }: Compared, parts: readonly ForeignPart[]): readonly ForeignPart[] {
  const child = desired.owner !== undefined;
  const stateOf = fieldStates(rules, desired.object, child);
  const ignored = child ? [] : ignoredFields(desired.object as JsonObject);
  return parts.filter(({ elements, owners }) => {
    const path = pointerOf(elements);
    const had = owners.flatMap(({ manager, paths }) => paths.map((each) => stateOf(pointerOf(each), manager)));
    const states = [stateOf(path, ''), ...had];
    return states.every((state) => state === 'set-back') && !ignored.some((each) => each.startsWith(`${path}/`));
  });
}

function evicting(
  { manager }: FieldRules,
  compared: Compared,
  type: MergeType,
  parts: readonly ForeignPart[],
): Compared {
  const { desired, live, fields = [] } = compared;
  if (live === undefined) return compared;
  const going = [...(compared.evicted?.parts ?? []), ...parts.map(({ elements }) => elements)];
  const evicted = { manager, parts: going };
  const set = parts.flatMap(({ elements, owners }) => {
    const [first] = owners.toSorted((a, b) => Number(b.applied) - Number(a.applied));
    const field = { path: pointerOf(elements), pointer: '', manager: first?.manager ?? '', state: 'set-back' } as const;
    return first === undefined ? [] : [field];
  });
  const changes = differences(desired.object, owning(live, evicted), type, manager);
  return { ...compared, diff: maskSecrets(desired.id.kind, changes), evicted, fields: [...fields, ...set] };
}

function owning(live: KubeObject, { parts, manager }: Evicted): KubeObject {
  const managedFields = [...withPartsOwned(live, parts, manager)];
  return { ...live, metadata: { ...live.metadata, managedFields } };
}

/** Sends a dry run of the object without the evicted parts. Throws Failure as `Cluster.patch` does. */
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

/** Returns the object that a forced apply would store; undefined if the apply would fail before validation. */
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

/**
 * Makes this instance the owner of the parts. The apply that follows lacks the parts, so the server removes them in the
 * same write.
 */
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

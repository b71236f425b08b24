// Accepts the names of CRDs, sets CRDs to established, and deletes the objects of deleted CRDs.

import { isObject, type Json, type JsonObject, objectsIn } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { type ApiContext, timestamp } from '../api/context.ts';
import { CLEANUP_FINALIZER } from '../api/delete.ts';
import { DEFINITIONS } from '../custom/definition.ts';
import type { StatusCondition } from './conditions.ts';
import type { WorkQueue } from './queue.ts';
import { writeChange, writeRemoval } from './writer.ts';

const MANAGER = 'kube-apiserver';

/** Watches all CRDs. The returned function stops the controller. */
export function controlDefinitions(context: ApiContext, queue: WorkQueue): () => void {
  const enqueue = (name: string): void => queue.add(`crd/${name}`, () => settleDefinition(context, name));
  for (const definition of context.store.list(DEFINITIONS)) enqueue(definition.metadata.name);
  return context.store.subscribe(({ key, type }) => {
    if (key.collection === DEFINITIONS && type !== 'DELETED') enqueue(key.name);
    // The names of a deleted CRD may now be free for other CRDs.
    if (key.collection === DEFINITIONS && type === 'DELETED') {
      for (const other of context.store.list(DEFINITIONS)) enqueue(other.metadata.name);
    } else if (type === 'DELETED' && context.store.list(key.collection).length === 0) {
      const [group = '', plural = ''] = key.collection.split('/');
      enqueue(`${plural}.${group}`);
    }
  });
}

function settleDefinition(context: ApiContext, name: string): void {
  const definition = context.store.get({ collection: DEFINITIONS, namespace: '', name });
  if (definition === undefined) return;
  if (definition.metadata.deletionTimestamp !== undefined) {
    cleanUp(context, definition);
    return;
  }
  const conflict = conflictOf(context, definition);
  const names = declaredNames(definition);
  const conditions = conflict === undefined ? ACCEPTED : namesRefused(conflict);
  const place = { namespace: '', name };
  writeChange(
    context,
    DEFINITIONS,
    MANAGER,
    place,
    (old) => {
      const status = isObject(old.status) ? old.status : {};
      const acceptedNames = conflict === undefined ? names : { plural: names.plural ?? '', kind: '' };
      const merged = mergeConditions(objectsIn(status.conditions), conditions, timestamp(context));
      return { ...old, status: { ...status, acceptedNames, conditions: merged } } as KubeObject;
    },
    'status',
  );
}

const ACCEPTED: readonly StatusCondition[] = [
  { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
  },
];

function namesRefused({ reason, name }: NameConflict): readonly StatusCondition[] {
  return [
    { type: 'NamesAccepted', status: 'False', reason, message: `${JSON.stringify(name)} is already in use` },
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
}

/** Merges conditions. A condition keeps its time until its status changes. */
function mergeConditions(before: readonly JsonObject[], now: readonly StatusCondition[], time: string): JsonObject[] {
  const others = before.filter((old) => now.every((condition) => condition.type !== old.type));
  const merged = now.map(({ type, status, reason, message }): JsonObject => {
    const old = before.find((candidate) => candidate.type === type);
    const since = old?.status === status ? (old.lastTransitionTime ?? time) : time;
    return { type, status, lastTransitionTime: since, reason, message };
  });
  return [...others, ...merged];
}

interface NameConflict {
  readonly reason: string;
  readonly name: string;
}

/**
 * Returns a name of the CRD that another established kind of the group already uses. If several of its names
 * are used, returns the last.
 */
function conflictOf(context: ApiContext, definition: KubeObject): NameConflict | undefined {
  const spec = isObject(definition.spec) ? definition.spec : {};
  const others = context.types
    .all()
    .filter((type) => type.group === spec.group && type.custom?.definition !== definition.metadata.name);
  const names = declaredNames(definition);
  const taken = others.flatMap((type) => [type.plural, type.singular, ...type.shortNames]);
  const kinds = others.flatMap((type) => [type.kind, type.listKind]);
  const shortNames = Array.isArray(names.shortNames) ? names.shortNames : [];
  const checks: [reason: string, name: Json | undefined, held: readonly string[]][] = [
    ['PluralConflict', names.plural, taken],
    ['SingularConflict', names.singular, taken],
    ...shortNames.map((name): [string, Json, readonly string[]] => ['ShortNamesConflict', name, taken]),
    ['KindConflict', names.kind, kinds],
    ['ListKindConflict', names.listKind, kinds],
  ];
  const found = checks.findLast(([, name, held]) => typeof name === 'string' && held.includes(name));
  return found === undefined ? undefined : { reason: found[0], name: String(found[1]) };
}

function declaredNames(definition: KubeObject): JsonObject {
  return isObject(definition.spec) && isObject(definition.spec.names) ? definition.spec.names : {};
}

/** Deletes the objects of a CRD that is being deleted. Then removes the finalizer of the CRD. */
function cleanUp(context: ApiContext, definition: KubeObject): void {
  if (!(definition.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return;
  const spec = isObject(definition.spec) ? definition.spec : {};
  const collection = `${String(spec.group)}/${String(declaredNames(definition).plural)}`;
  for (const object of context.store.list(collection)) {
    if (object.metadata.deletionTimestamp === undefined) writeRemoval(context, collection, object, {});
  }
  if (context.store.list(collection).length > 0) return;
  writeChange(context, DEFINITIONS, MANAGER, { namespace: '', name: definition.metadata.name }, (old) => {
    const finalizers = (old.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    return { ...old, metadata: { ...old.metadata, finalizers } };
  });
}

// Adds custom resources that other people applied by hand (`scope: cluster`). The run writes their children and status,
// but never changes the resources themselves.

import { idOf, type KubeObject, keyOf, keyOfObject, type ManagedFieldsEntry } from '#kubernetes/rules/object.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { digest } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import { formatId, type Problem } from '#std/problem.ts';
import type { InstanceName, OwnKinds, Permissions } from '../instance.ts';
import { applySetId, labelOf, PART_OF } from '../labels.ts';
import type { Gathered } from '../read/gather.ts';
import { load } from '../read/load.ts';
import type { LoadCache, SourceFile } from '../read/source-file.ts';
import type { Sourced } from '../read/sourced.ts';
import { scopeOf } from './scope.ts';
import type { Snapshot } from './snapshot.ts';

/** Adds the custom resources in the instance's namespaces that neither Git nor another instance declares. */
export function withOthers(
  deps: { readonly cache: LoadCache },
  options: InstanceName & OwnKinds & Pick<Permissions, 'namespaces' | 'scope'>,
  gathered: Gathered,
  snapshot: Snapshot,
): Gathered {
  if (options.scope !== 'cluster') return gathered;
  const { kinds, apiGroup } = options;
  const declared = new Set([...gathered.loaded.map(({ id }) => id), ...gathered.invalid].map(keyOf));
  const isOurKind = new Set(kinds.map(({ kind }) => `${apiGroup}/${kind}`));
  const others = snapshot.objects().filter((object) => {
    const [group] = object.apiVersion.split('/');
    return isOurKind.has(`${group}/${object.kind}`) && !declared.has(keyOfObject(object)) && isByHand(options, object);
  });
  const found = load({
    source: '',
    documents: others.map(asWritten),
    kinds,
    apiGroup,
    builtin: bundledSchema,
    cache: deps.cache,
  });
  return {
    ...gathered,
    loaded: [...gathered.loaded, ...found.resources.map((each): Sourced => ({ ...each, source: '', byHand: true }))],
    invalid: [...gathered.invalid, ...found.invalid],
    problems: [...gathered.problems, ...found.problems],
  };
}

/**
 * Turns an error into a warning: the run cannot correct the resource, and the author of the resource sees the error in
 * its status. Drops a warning, because it may be about a default that the author did not write.
 */
export function ofOthers({ place: _place, ...problem }: Problem): readonly Problem[] {
  return problem.severity === 'error' ? [{ ...problem, severity: 'warning' }] : [];
}

function isByHand(
  { instance, homeNamespace, namespaces }: InstanceName & Pick<Permissions, 'namespaces'>,
  object: KubeObject,
): boolean {
  const { namespace = '', deletionTimestamp, managedFields = [] } = object.metadata;
  const ours = labelOf(object, PART_OF) === applySetId(instance, homeNamespace);
  // An object that is not in our ApplySet but has our field manager belongs to an instance of the same name. That
  // instance has another home namespace.
  const anothers = managedFields.some(declares);
  return !ours && !anothers && deletionTimestamp === undefined && scopeOf(namespaces).allows(namespace);
}

/**
 * Returns true if the entry belongs to an instance that declares the object: only such an instance sets the ApplySet
 * label. `skep trigger` also has a field manager, but does not set the label.
 */
function declares({ manager, operation, subresource, fieldsV1 }: ManagedFieldsEntry): boolean {
  if (operation !== 'Apply' || subresource || !manager.startsWith('skep-')) return false;
  const { 'f:metadata': metadata } = isObject(fieldsV1) ? fieldsV1 : {};
  const { 'f:labels': labels } = isObject(metadata) ? metadata : {};
  return isObject(labels) && labels[`f:${PART_OF}`] !== undefined;
}

const files = new WeakMap<KubeObject, SourceFile>();

/** Returns the live object as a manifest, without status and server-managed metadata. */
export function asWritten(object: KubeObject): SourceFile {
  const known = files.get(object);
  if (known !== undefined) return known;
  const file = fileOf(object);
  files.set(object, file);
  return file;
}

function fileOf(object: KubeObject): SourceFile {
  const { apiVersion, kind, metadata, spec } = object;
  const { name, namespace, labels, annotations } = metadata;
  const text = JSON.stringify({ apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec });
  const path = `${formatId(idOf(object))}.json`;
  return { path, oid: digest(text), text };
}

// Decides which Secrets and ConfigMaps to read: declared objects, and objects to which a declared resource, a live
// resource or the instance's configuration refers.

import { TOOL_LOCK } from '#contracts/tool-lock/schema.ts';
import { longValuesOf, restoreObject, standInsOf } from '#kubernetes/rules/large-values.ts';
import { groupOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import type { InstanceName, OwnKinds, Rendering } from '../instance.ts';
import { applySetId, labelOf, PART_OF } from '../labels.ts';
import type { Gathered } from '../read/gather.ts';
import type { LoadedResource } from '../read/load.ts';
import type { Sourced } from '../read/sourced.ts';
import { isLarge } from './large-contents.ts';
import { readableResources } from './readable-resources.ts';
import { type GroupKind, groupKindOf, type Snapshot } from './snapshot.ts';

type NamingOptions = InstanceName & OwnKinds & Pick<Rendering, 'settings'>;

/** Returns the kinds of the resources, and the kinds of the objects to which they refer. */
export function namedKinds(options: NamingOptions, loaded: readonly Sourced[]): GroupKind[] {
  return loaded.flatMap(({ id, kind, defaulted }) => {
    const references = kind === undefined || defaulted === undefined ? [] : kind.references(defaulted);
    // Tool locks exist only in files, so their kind is not listed.
    const listed = references.filter((reference) => reference.kind !== TOOL_LOCK.kind);
    const named = listed.map((reference) => groupKindFor(reference.kind, options.apiGroup));
    return [groupKindOf(id), ...named, ...contentsNamedBy(options, kind, id, defaulted).map(groupKindOf)];
  });
}

/**
 * Reads the needed contents. Some resources are kept unchanged, for example because they are invalid. So the objects to
 * which live resources refer are read too. Returns the ids of all Secrets and ConfigMaps to which resources refer.
 */
export async function readNeeded(
  options: NamingOptions,
  snapshot: Snapshot,
  loaded: readonly Sourced[],
): Promise<readonly ResourceId[]> {
  const others = livingOtherwise(options, loaded, snapshot.objects());
  const set = applySetId(options.instance, options.homeNamespace);
  const own = others.filter(({ resource }) => labelOf(resource, PART_OF) === set);
  const namedBy = ({ kind, resource }: (typeof others)[number]): ResourceId[] =>
    contentsNamedBy(options, kind, resource.metadata, resource);
  // Lists only kinds to which resources of our ApplySet refer. The instance may lack the right to list other kinds.
  await snapshot.ensure(own.flatMap(namedBy).map(groupKindOf));
  const named = [...namedContents(options, loaded), ...others.flatMap(namedBy)];
  await snapshot.completeWhole(named);
  await snapshot.complete(loaded.map(({ id }) => id));
  return named;
}

/** Reads only the contents to which declared resources refer, and only of kinds that are listed already. */
export async function readDeclared(
  options: NamingOptions,
  snapshot: Snapshot,
  loaded: readonly LoadedResource[],
): Promise<void> {
  await snapshot.completeWhole(namedContents(options, loaded));
  await snapshot.complete(loaded.map(({ id }) => id));
}

function namedContents(options: NamingOptions, loaded: readonly LoadedResource[]): ResourceId[] {
  return loaded.flatMap(({ id, kind, defaulted, legible }) => contentsNamedBy(options, kind, id, defaulted ?? legible));
}

/** Restores the long values of declared objects to which resources refer. The code of kinds uses these values. */
export async function restoreNamed(
  gathered: Gathered,
  named: readonly ResourceId[],
  living: Snapshot['find'],
): Promise<Gathered> {
  const keys = new Set(named.map(keyOf));
  const isShort = ({ id, contents, kept }: Sourced): boolean =>
    keys.has(keyOf(id)) && (contents !== undefined || (kept !== undefined && standInsOf(kept).length > 0));
  if (!gathered.loaded.some(isShort)) return gathered;
  const loaded = gathered.loaded.map((each) => (isShort(each) ? restoreResource(each, living(each.id)) : each));
  return { ...gathered, loaded: await Promise.all(loaded) };
}

/** Restores the long values. Fields that other managers keep get their live values. */
async function restoreResource({ contents, ...resource }: Sourced, live: KubeObject | undefined): Promise<Sourced> {
  const { object, kept } = resource;
  const values = new Map([...((await contents?.()) ?? []), ...(live === undefined ? [] : longValuesOf(live))]);
  const whole = { ...resource, object: restoreObject(object, values) };
  if (kept === undefined) return whole;
  // The live object may have changed since it was listed. If the live object was deleted, the declared values are used.
  if (standInsOf(kept).every((standIn) => values.has(standIn))) return { ...whole, kept: restoreObject(kept, values) };
  const { kept: _gone, ...declared } = whole;
  return live === undefined ? declared : { ...declared, kept: live };
}

/**
 * Returns live resources of our kinds that are not declared or differ from their declaration. A resource without
 * differences refers to the same objects as its declaration.
 */
function livingOtherwise({ kinds, apiGroup }: OwnKinds, loaded: readonly Sourced[], live: readonly KubeObject[]) {
  const declared = new Map(loaded.map((each) => [keyOf(each.id), each]));
  const others = live.filter((object) => {
    if (groupOf(object.apiVersion) !== apiGroup) return false;
    const same = declared.get(keyOfObject(object));
    return same === undefined || !livesAsDeclared(object, same);
  });
  return readableResources(kinds, apiGroup, others);
}

function livesAsDeclared({ spec, metadata }: KubeObject, { kind, defaulted }: Sourced): boolean {
  if (kind === undefined) return true;
  if (defaulted === undefined || !jsonEquals(spec, defaulted.spec)) return false;
  return kind.annotations.every(({ name }) => metadata.annotations?.[name] === defaulted.metadata.annotations?.[name]);
}

function contentsNamedBy(
  { settings }: Pick<Rendering, 'settings'>,
  kind: Kind | undefined,
  { namespace }: Pick<ResourceId, 'namespace'>,
  resource: Resource | undefined,
): ResourceId[] {
  if (kind === undefined || resource === undefined) return [];
  const named = [...kind.references(resource), ...kind.configured(resource, settings)];
  return named.map((one) => ({ apiVersion: 'v1', kind: one.kind, namespace, name: one.name })).filter(isLarge);
}

/** Returns the group of a kind in a reference: the core group for the built-in kinds, else our group. */
export function groupKindFor(kind: string, apiGroup: string): GroupKind {
  return { group: CORE_KINDS.has(kind) ? '' : apiGroup, kind };
}

const CORE_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim']);

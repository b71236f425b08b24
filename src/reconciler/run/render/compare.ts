// Compares the objects that two commits declare.

import { shortenObject } from '#kubernetes/rules/large-values.ts';
import { normalise } from '#kubernetes/rules/normalise.ts';
import { groupOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import { type Difference, differences } from '#kubernetes/rules/ownership/differences.ts';
import { formatFields } from '#kubernetes/rules/ownership/fieldsv1.ts';
import { ownedSet } from '#kubernetes/rules/ownership/owned.ts';
import { jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { maskSecrets } from '../diff/masked.ts';
import type { OwnKinds } from '../instance.ts';
import { openDocument, publishedDocument } from '../plan-file/published-document.ts';
import type { LoadedResource } from '../read/load.ts';
import type { Side } from './side.ts';

export interface Sides extends OwnKinds {
  readonly before: Side;
  readonly after: Side;
}

/** An object that at least one of the two commits declares. */
export interface ComparedObject {
  readonly key: string;
  readonly id: ResourceId;
  readonly before?: LoadedResource;
  readonly after?: LoadedResource;
  /** True if both commits declare the object with the same content. */
  readonly isSame: boolean;
  /** Fields that differ between the commits, with masked values of Secrets. */
  readonly diff: readonly Difference[];
}

/** Returns all objects of both commits, sorted by key. */
export function compareSides({ before, after, ...own }: Sides): readonly ComparedObject[] {
  const [was, is] = [resourcesByKey(before), resourcesByKey(after)];
  const typeOf = mergeTypes(own, [before, after]);
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((key): ComparedObject[] => {
    const [one, other] = [was.get(key), is.get(key)];
    const id = (other ?? one)?.id;
    if (id === undefined) return [];
    if (one === undefined || other === undefined)
      return [{ key, id, before: one, after: other, isSame: false, diff: [] }];
    const pair = [one, other].map(({ object }) => shortenObject(normalise(object, typeOf(object))));
    const [from = one.object, to = other.object] = pair;
    const isSame = jsonEquals(from, to);
    return [{ key, id, before: one, after: other, isSame, diff: isSame ? [] : differencesOf(from, to, typeOf(to)) }];
  });
}

function resourcesByKey({ loaded }: Side): ReadonlyMap<string, LoadedResource> {
  return new Map(loaded.resources.map((resource) => [keyOf(resource.id), resource]));
}

type TypeOf = (object: KubeObject) => MergeType | undefined;

function mergeTypes(own: OwnKinds, sides: readonly Side[]): TypeOf {
  const definitions = sides.flatMap((side) => side.definitions);
  const documents = new Map<string, ReturnType<typeof publishedDocument>>();
  return ({ apiVersion, kind }) => {
    if (!documents.has(apiVersion)) documents.set(apiVersion, publishedDocument({ ...own, definitions }, apiVersion));
    const document = documents.get(apiVersion);
    const known = document && rootType(document, groupVersionKind(apiVersion, kind));
    return known ?? rootType(openDocument(apiVersion, kind), groupVersionKind(apiVersion, kind));
  };
}

function groupVersionKind(apiVersion: string, kind: string) {
  const group = groupOf(apiVersion);
  return { group, version: apiVersion.slice(group === '' ? 0 : group.length + 1), kind };
}

/**
 * Returns the differences. If the typed comparison finds no difference, compares without the type. The typed comparison
 * ignores a value that does not fit the type, such as a text for a number.
 */
function differencesOf(from: KubeObject, to: KubeObject, type: MergeType | undefined): readonly Difference[] {
  const { apiVersion, kind } = to;
  const version =
    from.apiVersion === apiVersion ? [] : [{ path: '/apiVersion', before: from.apiVersion, after: apiVersion }];
  const open = rootType(openDocument(apiVersion, kind), groupVersionKind(apiVersion, kind));
  const typed = type === undefined ? [] : differencesBy(from, to, type);
  const found = typed.length > 0 || open === undefined ? typed : differencesBy(from, to, open);
  return maskSecrets(kind, [...version, ...found]);
}

const MANAGER = 'skep-render';

/** Returns the fields that an apply of `to` changes after an apply of `from`. */
function differencesBy(from: KubeObject, to: KubeObject, type: MergeType): readonly Difference[] {
  const fieldsV1 = formatFields(ownedSet(from, type).set);
  const entry = {
    manager: MANAGER,
    operation: 'Apply',
    apiVersion: to.apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1,
  } as const;
  const live = { ...from, apiVersion: to.apiVersion, metadata: { ...from.metadata, managedFields: [entry] } };
  return differences(to, live, type, MANAGER);
}

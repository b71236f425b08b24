// What the drift matrix changes: of each manifest a copy for each of its fields, so that all of them drift at once.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { isEmptyValue, shapeOf } from '#kubernetes/rules/ownership/shape.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { collectionOf, type Subject, subjects } from '../comparisons/manifests.ts';
import { read, type Spot, spotsOf } from '../comparisons/spots.ts';

export interface Target {
  /** A copy of a manifest with a name of its own. */
  readonly object: KubeObject;
  /** Of the object on the server. */
  readonly path: string;
  /** JSON pointer of the field, as it is stored. */
  readonly pointer: string;
  readonly type: MergeType;
  /** Whoever sets a part of it has the whole. */
  readonly isOneValue: boolean;
  /** Where the field is a part of something that is owned as one value: the pointer of that. */
  readonly whole: string | undefined;
  /** Where the field is a key of an item of a list: whether the item says more than its keys. */
  readonly key: 'alone' | 'with more' | undefined;
  readonly declared: Json;
  /** What manifests of the kind have there, this one included; any item of a list stands for the others. */
  readonly values: readonly Json[];
}

/** They limit what else there is in their namespace. */
const LIMITS: ReadonlySet<string> = new Set(['LimitRange', 'ResourceQuota']);

export function driftingKinds(group: string): readonly Subject[] {
  return subjects(group).filter(({ kind, namespaced }) => namespaced && !LIMITS.has(kind));
}

/** `most`: only so many fields, from the first manifest to the last. */
export function targetsOf(subject: Subject, type: MergeType, namespace: string, most: number): readonly Target[] {
  const all = subject.manifests.flatMap((manifest, number) => {
    const spots = spotsOf(manifest as JsonObject, type);
    const byPath = new Map(spots.map((spot) => [spot.path, spot]));
    return spots.map((spot) => ({ manifest, number, spot, byPath }));
  });
  const values = Map.groupBy(all, ({ spot }) => placeOf(spot));
  const step = Math.max(1, Math.ceil(all.length / most));
  return all.flatMap(({ manifest, number, spot, byPath }, index): Target[] => {
    if (index % step !== 0) return [];
    const object = copyOf(manifest, `${subject.kind.toLowerCase()}-${number}-${index}`, namespace);
    return [
      {
        object,
        path: `${collectionOf(namespace, subject)}/${object.metadata.name}`,
        pointer: storedAt(spot.path),
        type: spot.type,
        declared: read(spot),
        isOneValue: isOneValue(spot.type, read(spot)),
        whole: wholeOf(spot.path, byPath),
        key: keyOf(spot, byPath),
        values: (values.get(placeOf(spot)) ?? []).map((each) => read(each.spot)),
      },
    ];
  });
}

/** Any item of a list stands for the others. */
function placeOf({ path }: Spot): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '/-');
}

export function copyOf(manifest: KubeObject, name: string, namespace: string): KubeObject {
  const { labels, annotations } = structuredClone(manifest.metadata);
  const metadata = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { ...structuredClone(manifest), metadata };
}

/** The server keeps `stringData` as `data`. */
function storedAt(path: string): string {
  return path.replace(/^\/stringData(?=\/|$)/, '/data');
}

function wholeOf(path: string, above: ReadonlyMap<string, Spot>): string | undefined {
  const paths = path.split('/').map((_, index, keys) => keys.slice(0, index).join('/'));
  return paths.find((each) => {
    const spot = above.get(each);
    return spot !== undefined && isOneValue(spot.type, read(spot));
  });
}

function keyOf({ path, parent, key }: Spot, above: ReadonlyMap<string, Spot>): Target['key'] {
  const tokens = path.split('/').slice(0, -1);
  if (wholeOf(tokens.join('/'), above) !== undefined) return undefined;
  if (above.get(tokens.join('/'))?.type.list?.merge === 'set') return 'alone';
  const keys = above.get(tokens.slice(0, -1).join('/'))?.type.list?.keys ?? [];
  if (Array.isArray(parent) || !keys.includes(String(key))) return undefined;
  const rest = Object.entries(parent).filter(([name, value]) => !keys.includes(name) && !isEmptyValue(value));
  return rest.length === 0 ? 'alone' : 'with more';
}

function isOneValue(type: MergeType, value: Json): boolean {
  const shape = shapeOf(type, value);
  return (shape.is === 'list' && shape.type.merge === 'atomic') || (shape.is === 'map' && shape.type.atomic);
}

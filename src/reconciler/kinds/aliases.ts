// Reads resources with old or alternative field names, and renames the fields to current names. Also maps pointers in
// the result to pointers in the author's text. No other file knows old names of fields.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { ALIAS_OF, deprecationOf, OLD_WORDS, REFERENCE } from '#std/schema/marks.ts';
import type { Static, TSchema } from '#std/schema.ts';

type Path = readonly (string | number)[];

/** Path from a parent to a value below it. `today` contains current names, and `written` the author's names. */
interface PathLink {
  readonly parent: PathLink | undefined;
  readonly today: Path;
  readonly written: Path;
}

/** Pointers to a renamed field. `today` contains current names, and `written` the author's names. */
interface FieldPointers {
  readonly today: string;
  readonly written: string;
}

export interface CurrentForm {
  readonly value: JsonObject;
  /** Returns the pointer into the author's text for a pointer into `value`. */
  written(pointer: string): string;
}

/**
 * Returns the value with current field names, and adds each rename to `renamed`. Returns the same value if nothing is
 * renamed.
 */
type Renamer = (value: Json, at: PathLink | undefined, renamed: PathLink[]) => Json;

/** Returns a function that reads values of the schema. `pointer`: pointer of these values in the resource. */
export function readerOf(schema: JsonObject, pointer: string): (value: JsonObject) => CurrentForm {
  const rename = renamer(schema);
  const same = (asked: string) => asked;
  return (value) => {
    const renamed: PathLink[] = [];
    const today = rename === undefined ? value : (rename(value, undefined, renamed) as JsonObject);
    if (renamed.length === 0) return { value: today, written: same };
    const places = renamed.map((step) => placeOf(step, pointer));
    return { value: today, written: (asked) => writtenAt(asked, places) };
  };
}

/** Returns a function that reads specs of other resources. Specs in a view are valid and have their defaults. */
export function specReader<Spec extends TSchema>(schema: Spec): (spec: JsonObject) => Static<Spec> {
  const plain: unknown = schema;
  const read = readerOf(plain as JsonObject, '/spec');
  return (spec) => {
    const value: unknown = read(spec).value;
    return value as Static<Spec>;
  };
}

/** Returns the name in a reference. The reference is the name itself or an object with the field `name`. */
export function referredName(value: Json | undefined): string | undefined {
  const name = isObject(value) ? value.name : value;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the value with its top-level fields renamed to their names in an API version. Names of nested fields do not
 * change.
 */
export function spelledFor(version: string, schema: JsonObject, value: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const entries = Object.entries(value).map(([key, child]): [string, Json | undefined] => {
    const field = properties[key];
    const deprecation = isObject(field) ? deprecationOf(field) : undefined;
    return [deprecation?.since === version ? deprecation.use : key, child];
  });
  return Object.fromEntries(entries);
}

function placeOf({ parent, today, written }: PathLink, root: string): FieldPointers {
  const above = parent === undefined ? { today: root, written: root } : placeOf(parent, root);
  return { today: pointerTo(above.today, today), written: pointerTo(above.written, written) };
}

function pointerTo(above: string, path: Path): string {
  return path.reduce<string>((pointer, token) => `${pointer}/${pointerToken(token)}`, above);
}

/** Returns the pointer with the author's names. The last match is the innermost place. */
function writtenAt(pointer: string, renamed: readonly FieldPointers[]): string {
  const place = renamed.findLast(({ today }) => pointer === today || pointer.startsWith(`${today}/`));
  return place === undefined ? pointer : `${place.written}${pointer.slice(place.today.length)}`;
}

/** Returns undefined if the fields of the schema have no other names. */
function renamer(schema: JsonObject): Renamer | undefined {
  const { properties, items, additionalProperties } = schema;
  const words = schema[OLD_WORDS];
  if (isObject(words)) return (value) => (typeof value === 'string' ? (words[value] ?? value) : value);
  if (schema[REFERENCE] === true) return renameReference;
  if (isObject(items)) return eachItem(renamer(items));
  if (isObject(additionalProperties)) {
    const rename = renamer(additionalProperties);
    return rename === undefined ? undefined : fieldsRenamer(new Map(), () => rename);
  }
  return isObject(properties) ? objectRenamer(properties) : undefined;
}

function renameReference(value: Json, at: PathLink | undefined, renamed: PathLink[]): Json {
  const name = referredName(value);
  if (!isObject(value) || name === undefined) return value;
  if (at !== undefined) renamed.push({ ...at, written: [...at.written, 'name'] });
  return name;
}

function eachItem(rename: Renamer | undefined): Renamer | undefined {
  if (rename === undefined) return undefined;
  return (value, parent, renamed) => {
    if (!Array.isArray(value)) return value;
    const items = value.map((item, index) => rename(item, { parent, today: [index], written: [index] }, renamed));
    return items.some((item, index) => item !== value[index]) ? items : value;
  };
}

function objectRenamer(properties: JsonObject): Renamer | undefined {
  const names = new Map<string, Path>();
  const below = new Map<string, Renamer>();
  for (const [key, field] of Object.entries(properties)) {
    if (!isObject(field)) continue;
    const alias = field[ALIAS_OF];
    if (typeof alias === 'string') names.set(key, alias.split('.'));
    const rename = renamer(field);
    if (rename !== undefined) below.set(key, rename);
  }
  return names.size === 0 && below.size === 0 ? undefined : fieldsRenamer(names, (key) => below.get(key));
}

function fieldsRenamer(names: ReadonlyMap<string, Path>, below: (key: string) => Renamer | undefined): Renamer {
  return (value, parent, renamed) => {
    if (!isObject(value)) return value;
    const changed = new Map<string, readonly [path: Path, child: Json]>();
    for (const [key, child] of Object.entries(value)) {
      const path = names.get(key);
      const rename = below(key);
      if (child === undefined || (path === undefined && rename === undefined)) continue;
      const step: PathLink = { parent, today: path ?? [key], written: [key] };
      if (path !== undefined) renamed.push(step);
      const today = rename?.(child, step, renamed) ?? child;
      if (path !== undefined || today !== child) changed.set(key, [step.today, today]);
    }
    return changed.size === 0 ? value : movedTo(value, changed);
  };
}

/** Returns the value with the changed fields at their paths. A field whose path has one name keeps its position. */
function movedTo(value: JsonObject, changed: ReadonlyMap<string, readonly [path: Path, child: Json]>): JsonObject {
  const deep: (readonly [path: Path, child: Json])[] = [];
  const entries = Object.entries(value).flatMap(([key, child]): [string, Json | undefined][] => {
    const [path, today] = changed.get(key) ?? [[key], child];
    if (path.length === 1) return [[String(path[0]), today]];
    if (today !== undefined) deep.push([path, today]);
    return [];
  });
  return deep.reduce<JsonObject>(
    (result, [path, child]) => withValueAt(result, path, child),
    Object.fromEntries(entries),
  );
}

function withValueAt(object: JsonObject, [token, ...rest]: Path, value: Json): JsonObject {
  const key = String(token);
  const inner = object[key];
  return { ...object, [key]: rest.length === 0 ? value : withValueAt(isObject(inner) ? inner : {}, rest, value) };
}

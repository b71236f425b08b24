// Reads a resource that uses old names by the names of today, and tells where its author wrote what. Knows schemas, not
// kinds.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { ALIAS_OF, OLD_WORDS } from '#std/schema.ts';

/** One step down into a value, by the name of today and as it is written. */
interface Step {
  readonly parent: Step | undefined;
  readonly today: string | number;
  readonly written: string | number;
}

/** The same place, by the names of today and as it is written. */
interface Place {
  readonly today: string;
  readonly written: string;
}

export interface Reading {
  readonly value: JsonObject;
  /** The pointer into what the author wrote, for a pointer into `value`. */
  written(pointer: string): string;
}

/** Gives the value by the names of today, and puts the steps that have an old name into `renamed`: the very value where none has. */
type Renamer = (value: Json, at: Step | undefined, renamed: Step[]) => Json;

/** A reader for values of a schema, at a pointer. Values without old names come back as they are. */
export function readerOf(schema: JsonObject, pointer: string): (value: JsonObject) => Reading {
  const rename = renamer(schema);
  const same = (asked: string) => asked;
  return (value) => {
    const renamed: Step[] = [];
    const today = rename === undefined ? value : (rename(value, undefined, renamed) as JsonObject);
    if (renamed.length === 0) return { value: today, written: same };
    const places = renamed.map((step) => placeOf(step, pointer));
    return { value: today, written: (asked) => writtenAt(asked, places) };
  };
}

function placeOf({ parent, today, written }: Step, root: string): Place {
  const above = parent === undefined ? { today: root, written: root } : placeOf(parent, root);
  return { today: `${above.today}/${pointerToken(today)}`, written: `${above.written}/${pointerToken(written)}` };
}

/** The innermost renamed place decides: it was found last. */
function writtenAt(pointer: string, renamed: readonly Place[]): string {
  const place = renamed.findLast(({ today }) => pointer === today || pointer.startsWith(`${today}/`));
  return place === undefined ? pointer : `${place.written}${pointer.slice(place.today.length)}`;
}

/** Undefined where nothing in such values has an old name. */
function renamer(schema: JsonObject): Renamer | undefined {
  const { properties, items, additionalProperties } = schema;
  const words = schema[OLD_WORDS];
  if (isObject(words)) return (value) => (typeof value === 'string' ? (words[value] ?? value) : value);
  if (isObject(items)) return eachItem(renamer(items));
  if (isObject(additionalProperties)) {
    const rename = renamer(additionalProperties);
    return rename === undefined ? undefined : fieldsRenamer(new Map(), () => rename);
  }
  return isObject(properties) ? objectRenamer(properties) : undefined;
}

function eachItem(rename: Renamer | undefined): Renamer | undefined {
  if (rename === undefined) return undefined;
  return (value, parent, renamed) => {
    if (!Array.isArray(value)) return value;
    const items = value.map((item, index) => rename(item, { parent, today: index, written: index }, renamed));
    return items.some((item, index) => item !== value[index]) ? items : value;
  };
}

function objectRenamer(properties: JsonObject): Renamer | undefined {
  const names = new Map<string, string>();
  const below = new Map<string, Renamer>();
  for (const [key, field] of Object.entries(properties)) {
    if (!isObject(field)) continue;
    const alias = field[ALIAS_OF];
    if (typeof alias === 'string') names.set(key, alias);
    const rename = typeof alias === 'string' ? undefined : renamer(field);
    if (rename !== undefined) below.set(key, rename);
  }
  return names.size === 0 && below.size === 0 ? undefined : fieldsRenamer(names, (key) => below.get(key));
}

function fieldsRenamer(names: ReadonlyMap<string, string>, below: (key: string) => Renamer | undefined): Renamer {
  return (value, parent, renamed) => {
    if (!isObject(value)) return value;
    const changed = new Map<string, readonly [name: string, child: Json]>();
    for (const [key, child] of Object.entries(value)) {
      const name = names.get(key) ?? key;
      const rename = below(name);
      if (child === undefined || (name === key && rename === undefined)) continue;
      const step: Step = { parent, today: name, written: key };
      if (name !== key) renamed.push(step);
      const today = rename?.(child, step, renamed) ?? child;
      if (name !== key || today !== child) changed.set(key, [name, today]);
    }
    if (changed.size === 0) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => changed.get(key) ?? [key, child]));
  };
}

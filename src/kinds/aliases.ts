// Reads a resource that uses old names by the names of today, and tells where its author wrote what. Knows schemas, not
// kinds.

import { isObject, type Json, type JsonObject, pointerToken } from '../std/json.ts';
import { ALIAS_OF, OLD_WORDS } from '../std/schema.ts';

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

/** Gives the value by the names of today, and puts the places that have an old name into `renamed`. */
type Renamer = (value: Json, place: Place, renamed: Place[]) => Json;

/** A reader for values of a schema, at a pointer. Values without old names come back as they are. */
export function readerOf(schema: JsonObject, pointer: string): (value: JsonObject) => Reading {
  const rename = renamer(schema);
  const isOld = tester(schema);
  const root: Place = { today: pointer, written: pointer };
  const same = (asked: string) => asked;
  return (value) => {
    if (rename === undefined || isOld?.(value) !== true) return { value, written: same };
    const renamed: Place[] = [];
    const today = rename(value, root, renamed) as JsonObject;
    return { value: today, written: renamed.length === 0 ? same : (asked) => writtenAt(asked, renamed) };
  };
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

/** Whether a value has an old name or word anywhere: nearly none has, and then nothing is copied. */
type Tester = (value: Json) => boolean;

/** Undefined where no such value can have one. */
function tester(schema: JsonObject): Tester | undefined {
  const { properties, items, additionalProperties } = schema;
  const words = schema[OLD_WORDS];
  if (isObject(words)) return (value) => typeof value === 'string' && words[value] !== undefined;
  if (isObject(items)) {
    const isOld = tester(items);
    return isOld && ((value) => Array.isArray(value) && value.some(isOld));
  }
  if (isObject(additionalProperties)) {
    const isOld = tester(additionalProperties);
    return isOld && ((value) => isObject(value) && Object.values(value).some((child) => isOld(child ?? null)));
  }
  return isObject(properties) ? fieldsTester(properties) : undefined;
}

function fieldsTester(properties: JsonObject): Tester | undefined {
  const tests = Object.entries(properties).flatMap(([name, field]) => {
    if (!isObject(field)) return [];
    const isOld = typeof field[ALIAS_OF] === 'string' ? () => true : tester(field);
    return isOld === undefined ? [] : [{ name, isOld }];
  });
  if (tests.length === 0) return undefined;
  return (value) =>
    isObject(value) &&
    tests.some(({ name, isOld }) => {
      const child = value[name];
      return child !== undefined && isOld(child);
    });
}

function eachItem(rename: Renamer | undefined): Renamer | undefined {
  if (rename === undefined) return undefined;
  return (value, place, renamed) => {
    return Array.isArray(value) ? value.map((item, index) => rename(item, inside(place, index), renamed)) : value;
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
  return (value, place, renamed) => {
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, child]) => {
      const name = names.get(key) ?? key;
      const at = inside(place, name, key);
      if (name !== key) renamed.push(at);
      return [name, child === undefined ? child : (below(name)?.(child, at, renamed) ?? child)] as const;
    });
    return Object.fromEntries(entries);
  };
}

function inside(place: Place, today: string | number, written = today): Place {
  return { today: `${place.today}/${pointerToken(today)}`, written: `${place.written}/${pointerToken(written)}` };
}

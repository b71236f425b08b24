// An object as rules see it: a field becomes a CEL value when a rule asks for it. Knows nothing about schemas.

import type { Json, JsonObject } from '../../std/json.ts';

export interface FieldReader {
  /** The field's name in the object. */
  readonly key: string;
  readonly type: { convert(value: Json): unknown };
}

/** A Map, because no field of an object can be mistaken for a member of it. Keys are names as rules write them. */
export class LazyFields extends Map<string, unknown> {
  readonly #object: JsonObject;
  readonly #readers: ReadonlyMap<string, FieldReader>;

  constructor(object: JsonObject, readers: ReadonlyMap<string, FieldReader>) {
    super();
    this.#object = object;
    this.#readers = readers;
  }

  override get(name: string): unknown {
    if (super.has(name)) return super.get(name);
    const reader = this.#readers.get(name);
    const value = reader === undefined ? undefined : this.#object[reader.key];
    if (reader === undefined || value === undefined || value === null) return undefined;
    const converted = reader.type.convert(value);
    super.set(name, converted);
    return converted;
  }

  /** A null counts as absent. */
  override has(name: string): boolean {
    const reader = this.#readers.get(name);
    const value = reader === undefined ? undefined : this.#object[reader.key];
    return value !== undefined && value !== null;
  }

  override get size(): number {
    return this.#all().length;
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return new Map(this.#all()).entries();
  }

  #all(): [string, unknown][] {
    return [...this.#readers.keys()].filter((name) => this.has(name)).map((name) => [name, this.get(name)]);
  }
}

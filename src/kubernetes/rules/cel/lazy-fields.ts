// Presents an object to rules. A field is converted to a CEL value when a rule first reads it.

import type { Json, JsonObject } from '#std/json.ts';

export interface FieldReader {
  readonly key: string;
  readonly type: { convert(value: Json): unknown };
}

type Readers = ReadonlyMap<string, FieldReader>;

/**
 * Returns a class for the objects of one type, because the engine distinguishes types by class. Objects are Maps: a
 * field of a Map cannot be mistaken for a member of the class. The keys are the names that rules use.
 */
export function fieldsType(readers: Readers): new (object: JsonObject) => ReadonlyMap<string, unknown> {
  return class extends Map<string, unknown> {
    readonly #object: JsonObject;

    constructor(object: JsonObject) {
      super();
      this.#object = object;
    }

    override get(name: string): unknown {
      if (super.has(name)) return super.get(name);
      const written = writtenValue(this.#object, readers, name);
      if (written === undefined) return undefined;
      const converted = readers.get(name)?.type.convert(written);
      super.set(name, converted);
      return converted;
    }

    override has(name: string): boolean {
      return writtenValue(this.#object, readers, name) !== undefined;
    }

    override get size(): number {
      return this.#all().length;
    }

    override [Symbol.iterator](): MapIterator<[string, unknown]> {
      return new Map(this.#all()).entries();
    }

    #all(): [string, unknown][] {
      return [...readers.keys()].filter((name) => this.has(name)).map((name) => [name, this.get(name)]);
    }
  };
}

/** Returns the value of the field. A null counts as absent. */
function writtenValue(object: JsonObject, readers: Readers, name: string): Json | undefined {
  const reader = readers.get(name);
  return reader === undefined ? undefined : (object[reader.key] ?? undefined);
}

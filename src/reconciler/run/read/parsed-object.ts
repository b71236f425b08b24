// Defines one object in a file's text, before it is identified.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface ParsedObject {
  /** Index among the documents of the file that are not empty. */
  readonly document: number;
  /** Pointer in the document; empty unless the object is an item of a list. */
  readonly pointer: string;
  readonly value: Json;
  /** Pointers inside the value to variables whose values only a cluster has. */
  readonly unknown?: readonly string[];
  /** Set if a problem already prevents the object from being applied: only its identity is used. */
  readonly refused?: true;
}

/** Reduces an object with a problem to its identity. */
export function refusedObject(object: ParsedObject): ParsedObject {
  return { ...object, value: identityAlone(object.value), refused: true };
}

function identityAlone(value: Json): Json {
  if (!isObject(value)) return value;
  const { apiVersion, kind, metadata } = value;
  const { name, namespace }: JsonObject = isObject(metadata) ? metadata : {};
  return { apiVersion, kind, metadata: { name, namespace } };
}

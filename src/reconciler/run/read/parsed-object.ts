// Defines one object in the text of a file, before it is identified.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface ParsedObject {
  /** Index among the documents of the file that are not empty. */
  readonly document: number;
  /** Pointer in the document; empty unless the object is an item of a list. */
  readonly pointer: string;
  readonly value: Json;
  /** Pointers inside the value to variables whose values are known only in the cluster. */
  readonly unknown?: readonly string[];
  /** Set if a problem already prevents an apply. Only the identity of the object is then used. */
  readonly refused?: true;
}

/** Returns a refused object: only the identity of the value is kept. */
export function refusedObject(object: ParsedObject): ParsedObject {
  return { ...object, value: identityAlone(object.value), refused: true };
}

function identityAlone(value: Json): Json {
  if (!isObject(value)) return value;
  const { apiVersion, kind, metadata } = value;
  const { name, namespace }: JsonObject = isObject(metadata) ? metadata : {};
  return { apiVersion, kind, metadata: { name, namespace } };
}

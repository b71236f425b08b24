// One object of a file's text, before anybody has looked at what it is.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface ParsedObject {
  /** Index among the documents of the file that are not empty. */
  readonly document: number;
  /** Where it stands in the document; empty unless it is the item of a list. */
  readonly pointer: string;
  readonly value: Json;
  /** Pointers inside the value to variables whose values only a cluster has. */
  readonly unknown?: readonly string[];
  /** A problem says already that it must not be applied: only its identity is of use. */
  readonly refused?: true;
}

/** Some problem says why: nothing but its identity goes on. */
export function refusedObject(object: ParsedObject): ParsedObject {
  return { ...object, value: identityAlone(object.value), refused: true };
}

function identityAlone(value: Json): Json {
  if (!isObject(value)) return value;
  const { apiVersion, kind, metadata } = value;
  const { name, namespace }: JsonObject = isObject(metadata) ? metadata : {};
  return { apiVersion, kind, metadata: { name, namespace } };
}

// Finds the fault that prevents clients from compiling a JSON Schema. Takes linear time and does not compile the
// schema, which comes from outside.

import {
  decoded,
  dialectOf,
  findFormFault,
  SCHEMA_LISTS,
  SCHEMA_MAPS,
  SINGLE_SCHEMAS,
} from '#contracts/virtual-model/workflow/schemas.ts';
import { isObject, type Json, type JsonObject, pointerToken, pointerTokens } from '#std/json.ts';

/** A schema within the root schema. */
interface SchemaPart {
  readonly schema: JsonObject;
  readonly pointer: string;
}

/** Returns the first fault, beginning with its JSON pointer. Returns undefined if the schema has no known fault. */
export function findSchemaFault(root: JsonObject): string | undefined {
  const { $schema: _, ...undeclared } = root;
  // Most unknown dialects are older than draft-07, and have nearly the same rules.
  const misfit = findFormFault(undeclared, dialectOf(root) ?? 'draft-07');
  if (misfit !== undefined) return misfit;
  const anchors = anchorsIn(root);
  const targets = new Map<JsonObject, ReferenceTarget>();
  const waiting: SchemaPart[] = [{ schema: root, pointer: '' }];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { schema, pointer } = part;
    const target = typeof schema.$ref === 'string' ? targetOf(root, anchors, schema.$ref) : undefined;
    if (typeof schema.$ref === 'string' && target === undefined) return `${pointer}/$ref leads nowhere in the schema`;
    if (target !== undefined) targets.set(schema, { pointer, to: target });
    const fault = findAjvFault(part);
    if (fault !== undefined) return fault;
    collectParts(part, waiting);
  }
  return circleIn(targets);
}

interface ReferenceTarget {
  readonly pointer: string;
  readonly to: Json;
}

/** Finds a chain of `$ref` that returns to its start. Ajv does not terminate on such a chain. */
function circleIn(targets: ReadonlyMap<JsonObject, ReferenceTarget>): string | undefined {
  const walked = new Map<Json, JsonObject>();
  for (const start of targets.keys()) {
    let schema: Json = start;
    for (let target = targets.get(start); target !== undefined; ) {
      if (walked.get(schema) === start) return `${target.pointer}/$ref leads back to itself`;
      if (walked.has(schema)) break;
      walked.set(schema, start);
      schema = target.to;
      target = isObject(schema) ? targets.get(schema) : undefined;
    }
  }
  return undefined;
}

/** Finds faults that the meta-schemas permit but Ajv refuses. The official client compiles with Ajv. */
function findAjvFault({ schema, pointer }: SchemaPart): string | undefined {
  const { pattern, patternProperties, nullable, type, enum: values } = schema;
  const patterns = [...(typeof pattern === 'string' ? [pattern] : []), ...Object.keys(objectOr(patternProperties))];
  if (!patterns.every(isPattern)) return `${pointer} has a pattern that is not a regular expression`;
  if (nullable !== undefined && type === undefined) return `${pointer}/nullable needs a type next to it`;
  if (Array.isArray(values) && values.length === 0) return `${pointer}/enum must not be empty`;
  return 'id' in schema ? `${pointer}/id is not a keyword: the name is $id` : undefined;
}

function collectParts({ schema, pointer }: SchemaPart, waiting: SchemaPart[]): void {
  const collect = (value: Json | undefined, at: string) => {
    if (isObject(value)) waiting.push({ schema: value, pointer: at });
  };
  for (const word of SINGLE_SCHEMAS) collect(schema[word], `${pointer}/${word}`);
  for (const word of SCHEMA_LISTS) {
    const value = schema[word];
    if (!Array.isArray(value)) continue;
    for (const [index, each] of value.entries()) collect(each, `${pointer}/${word}/${index}`);
  }
  for (const word of SCHEMA_MAPS) {
    for (const [key, each] of Object.entries(objectOr(schema[word]))) {
      collect(each, `${pointer}/${word}/${pointerToken(key)}`);
    }
  }
}

function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Returns the target of a reference, or undefined if it does not exist. Clients do not follow references to other
 * documents.
 */
function targetOf(root: JsonObject, anchors: ReadonlyMap<string, JsonObject>, reference: string): Json | undefined {
  const { $id } = root;
  const own = typeof $id === 'string' && reference.startsWith(`${$id}#`) ? reference.slice($id.length) : reference;
  if (own === '#' || own === $id) return root;
  if (!own.startsWith('#/')) return anchors.get(own);
  let value: Json | undefined = root;
  for (const token of pointerTokens(decoded(own.slice(1)))) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
    value = Array.isArray(value) ? value[Number(token)] : value[token];
  }
  return isObject(value) || typeof value === 'boolean' ? value : undefined;
}

/** Collects the schemas that references can name without a path: by `#anchor`, or by the `$id` of a part. */
function anchorsIn(root: JsonObject): ReadonlyMap<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  const waiting: Json[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value)) {
      const { $anchor, $dynamicAnchor, $id } = value;
      if (typeof $anchor === 'string') anchors.set(`#${$anchor}`, value);
      if (typeof $dynamicAnchor === 'string') anchors.set(`#${$dynamicAnchor}`, value);
      if (typeof $id === 'string') anchors.set($id, value);
    }
    for (const each of Object.values(value)) if (each !== undefined) waiting.push(each);
  }
  return anchors;
}

/** Returns whether the text is a regular expression in the Unicode mode of ECMA 262, which Ajv uses. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

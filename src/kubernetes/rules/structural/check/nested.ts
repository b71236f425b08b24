// Checks the schemas in `allOf`, `anyOf`, `oneOf` and `not`. These schemas may restrict only fields that the enclosing
// schema declares, and must not set the type of values. Source: CustomResourceDefinitions, "Specifying a structural
// schema", rules 1 to 3.

import { isObject, type Json, type JsonObject, jsonEquals, pointerToken } from '#std/json.ts';
import { forbid, type Report, report } from '../report.ts';
import { checkPattern, checkUnsupported, checkWords } from '../words.ts';

const SHAPING = [
  'type',
  'additionalProperties',
  'default',
  'title',
  'description',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
];
const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }];

/**
 * True if the schema has the `anyOf` of an int-or-string. Kubernetes allows this `anyOf` in the schema itself or in the
 * first entry of its `allOf`.
 */
function isIntOrString(schema: Json | undefined): boolean {
  return isObject(schema) && jsonEquals(schema.anyOf, INT_OR_STRING);
}

/**
 * Checks the alternatives of one schema, including nested alternatives. At the root, alternatives may restrict only
 * declared fields. An API server does not check this restriction below the root.
 */
export function checkNested(out: Report, schema: JsonObject, pointer: string): void {
  checkParts(out, schema, pointer, isIntOrString(schema), true);
  if (pointer === '') checkKnown(out, schema, schema, pointer);
}

function checkParts(out: Report, schema: JsonObject, pointer: string, skipAnyOf: boolean, outermost: boolean): void {
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = schema[word];
    if (!Array.isArray(parts) || (word === 'anyOf' && skipAnyOf)) continue;
    for (const [index, part] of parts.entries()) {
      const plain = outermost && word === 'allOf' && index === 0 && isIntOrString(part);
      checkPart(out, part, `${pointer}/${word}/${index}`, plain);
    }
  }
  if (schema.not !== undefined) checkPart(out, schema.not, `${pointer}/not`, false);
}

function checkPart(out: Report, part: Json, pointer: string, skipAnyOf: boolean): void {
  if (!isObject(part)) {
    report(out, 'schema-type', pointer, 'must be a schema.');
    return;
  }
  checkWords(out, part, pointer);
  checkUnsupported(out, part, pointer);
  for (const word of SHAPING) {
    if (!isAbsent(part[word])) forbid(out, `${pointer}/${word}`, 'must be outside alternatives.');
  }
  checkPattern(out, part.pattern, `${pointer}/pattern`);
  checkFields(out, part, pointer);
  checkParts(out, part, pointer, skipAnyOf, false);
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);
}

function checkFields(out: Report, part: JsonObject, pointer: string): void {
  for (const [name, inner] of Object.entries(isObject(part.properties) ? part.properties : {})) {
    const at = `${pointer}/properties/${pointerToken(name)}`;
    if (name === 'metadata') forbid(out, at, 'must not be restricted in alternatives.');
    if (inner !== undefined) checkPart(out, inner, at, false);
  }
  if (part.items !== undefined) checkPart(out, part.items, `${pointer}/items`, false);
}

/** `spine`: the declared schema of the place that `part` restricts. */
function checkKnown(out: Report, spine: JsonObject, part: JsonObject, pointer: string): void {
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, inner] of (Array.isArray(part[word]) ? part[word] : []).entries()) {
      if (isObject(inner)) checkKnown(out, spine, inner, `${pointer}/${word}/${index}`);
    }
  }
  if (isObject(part.not)) checkKnown(out, spine, part.not, `${pointer}/not`);
  if (part === spine) return;
  const fields = isObject(spine.properties) ? spine.properties : {};
  for (const [name, inner] of Object.entries(isObject(part.properties) ? part.properties : {})) {
    const at = `${pointer}/properties/${pointerToken(name)}`;
    const field = fields[name];
    if (!isObject(field)) forbid(out, at, 'is a field that the schema itself does not have.');
    else if (isObject(inner)) checkKnown(out, field, inner, at);
  }
  if (!isObject(part.items)) return;
  if (isObject(spine.items)) checkKnown(out, spine.items, part.items, `${pointer}/items`);
  else forbid(out, `${pointer}/items`, 'restricts entries that the schema itself does not describe.');
}

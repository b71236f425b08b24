// Compares two CustomResourceDefinitions: every field, with its type, words, defaults, bounds, patterns, required fields and rules.

import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** Keywords whose values are compared as they are. Descriptions are not compared. */
const KEYWORDS = [
  'type',
  'format',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'nullable',
  'not',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

/** Returns each difference as a line, for all versions that the first definition has: `Kind.spec.field keyword: value -> our value`. */
export function definitionDifferences(theirs: JsonObject, ours: JsonObject): readonly string[] {
  const [spec, ourSpec] = [objectAt(theirs, 'spec'), objectAt(ours, 'spec')];
  const kind = String(objectAt(spec, 'names').kind);
  const facts = (['group', 'scope'] as const).flatMap((key) => valueDifference(kind, key, spec[key], ourSpec[key]));
  const names = valueDifference(kind, 'names', sortedNames(spec), sortedNames(ourSpec));
  const versions = objectsOf(spec.versions).flatMap((version) => {
    const same = objectsOf(ourSpec.versions).find(({ name }) => name === version.name);
    if (same === undefined) return [`${kind} version ${String(version.name)}: missing`];
    return [
      ...(['served', 'storage'] as const).flatMap((key) => valueDifference(kind, key, version[key], same[key])),
      ...schemaDifferences(kind, rootSchema(version), rootSchema(same)),
    ];
  });
  return [...new Set([...facts, ...names, ...versions])];
}

function schemaDifferences(place: string, theirs: JsonObject, ours: JsonObject): readonly string[] {
  return [
    ...KEYWORDS.flatMap((key) => valueDifference(place, key, theirs[key], ours[key])),
    ...wordDifferences(place, listOf(theirs.enum), listOf(ours.enum)),
    ...requiredDifferences(place, theirs, ours),
    ...ruleDifferences(place, rulesOf(theirs), rulesOf(ours)),
    ...fieldDifferences(place, objectAt(theirs, 'properties'), objectAt(ours, 'properties')),
    ...childDifferences(`${place}[]`, theirs.items, ours.items),
    ...childDifferences(`${place}{}`, theirs.additionalProperties, ours.additionalProperties),
  ];
}

function fieldDifferences(place: string, theirs: JsonObject, ours: JsonObject): readonly string[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  return names.flatMap((name) => childDifferences(`${place}.${name}`, theirs[name], ours[name]));
}

function childDifferences(place: string, theirs: Json | undefined, ours: Json | undefined): readonly string[] {
  if (isObject(theirs) && isObject(ours)) return schemaDifferences(place, theirs, ours);
  if (theirs === undefined && ours === undefined) return [];
  if (ours === undefined) return [`${place} missing`];
  if (theirs === undefined) return [`${place} added`];
  return valueDifference(place, 'schema', theirs, ours);
}

function valueDifference(place: string, key: string, theirs: Json | undefined, ours: Json | undefined) {
  const show = (value: Json | undefined) => (value === undefined ? 'none' : JSON.stringify(value));
  return isDeepStrictEqual(theirs, ours) ? [] : [`${place} ${key}: ${show(theirs)} -> ${show(ours)}`];
}

/** A word that is missing is written like a field, because an author meets it like one. */
function wordDifferences(place: string, theirs: readonly Json[], ours: readonly Json[]): readonly string[] {
  if (theirs.length === 0 && ours.length > 0) return [`${place} words: any -> ${ours.join(', ')}`];
  if (theirs.length > 0 && ours.length === 0) return [`${place} words: ${theirs.join(', ')} -> any`];
  return [
    ...theirs.filter((word) => !ours.includes(word)).map((word) => `${place}=${String(word)} missing`),
    ...ours.filter((word) => !theirs.includes(word)).map((word) => `${place}=${String(word)} added`),
  ];
}

/** Whether a field that only one definition has is required follows from the difference of the field itself. */
function requiredDifferences(place: string, theirs: JsonObject, ours: JsonObject): readonly string[] {
  const [required, ourRequired] = [listOf(theirs.required), listOf(ours.required)];
  const both = Object.keys(objectAt(theirs, 'properties')).filter((name) => name in objectAt(ours, 'properties'));
  return both.flatMap((name) => {
    return valueDifference(`${place}.${name}`, 'required', required.includes(name), ourRequired.includes(name));
  });
}

function ruleDifferences(place: string, theirs: readonly string[], ours: readonly string[]): readonly string[] {
  return [
    ...theirs.filter((rule) => !ours.includes(rule)).map((rule) => `${place} rule missing: ${rule}`),
    ...ours.filter((rule) => !theirs.includes(rule)).map((rule) => `${place} rule added: ${rule}`),
  ];
}

/** Returns the path of every field, as it is written in a difference. */
export function fieldPlaces(definition: JsonObject): readonly string[] {
  const spec = objectAt(definition, 'spec');
  const places = objectsOf(spec.versions).flatMap((version) => {
    return placesBelow(String(objectAt(spec, 'names').kind), rootSchema(version));
  });
  return [...new Set(places)];
}

function placesBelow(place: string, schema: JsonObject): readonly string[] {
  const children = [
    ...Object.entries(objectAt(schema, 'properties')).map(([name, field]) => [`${place}.${name}`, field] as const),
    [`${place}[]`, schema.items] as const,
    [`${place}{}`, schema.additionalProperties] as const,
  ];
  const words = listOf(schema.enum).map((word) => `${place}=${String(word)}`);
  const below = children.flatMap(([at, child]) => (isObject(child) ? placesBelow(at, child) : []));
  return [place, ...words, ...below];
}

function rootSchema(version: JsonObject): JsonObject {
  return objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
}

function sortedNames(spec: JsonObject): JsonObject {
  const names = objectAt(spec, 'names');
  return { ...names, shortNames: listOf(names.shortNames).map(String).sort() };
}

function rulesOf(schema: JsonObject): readonly string[] {
  return objectsOf(schema['x-kubernetes-validations']).map(({ rule }) => String(rule));
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const child = value[key];
  return isObject(child) ? child : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

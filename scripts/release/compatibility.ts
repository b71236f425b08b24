// What would break objects that are stored, or manifests that are written, if a CustomResourceDefinition took the place of an
// older one. Fails closed: what it does not know to be harmless is reported. Pure.

import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Incompatibility {
  /** `mcpservers.toolhive.stacklok.dev v1alpha1 /spec/image` */
  readonly where: string;
  /** `maxLength is 10, was 20`: with `where`, what a deliberate change is listed by. */
  readonly what: string;
}

type Definition = { readonly metadata: { readonly name: string }; readonly spec?: Json };

/** Of all definitions of a release, against those that take their place. */
export function incompatibilities(before: readonly Definition[], after: readonly Definition[]): Incompatibility[] {
  return before.flatMap((old) => {
    const { name } = old.metadata;
    const now = after.find(({ metadata }) => metadata.name === name);
    return now === undefined ? [{ where: name, what: 'the definition is gone' }] : ofDefinition(name, old, now);
  });
}

function ofDefinition(name: string, before: Definition, after: Definition): Incompatibility[] {
  const [old, now] = [objectOf(before.spec), objectOf(after.spec)];
  const fixed = ['group', 'scope', 'names.kind', 'names.plural', 'names.singular'].flatMap((path) =>
    changed(path, at(old, path), at(now, path)).map((what) => ({ where: name, what })),
  );
  const shortNames = gone(at(old, 'names.shortNames'), at(now, 'names.shortNames'));
  const versions = listOf(old.versions).flatMap((version) => {
    const where = `${name} ${version.name}`;
    const next = listOf(now.versions).find((each) => each.name === version.name);
    return next === undefined ? [{ where, what: 'the version is gone' }] : ofVersion(where, version, next);
  });
  return [
    ...fixed,
    ...shortNames.map((each) => ({ where: name, what: `the short name ${each} is gone` })),
    ...versions,
  ];
}

function ofVersion(where: string, before: JsonObject, after: JsonObject): Incompatibility[] {
  const found: Incompatibility[] = [];
  if (before.served === true && after.served !== true)
    found.push({ where, what: 'the version is not served any more' });
  for (const name of Object.keys(objectOf(before.subresources))) {
    if (!(name in objectOf(after.subresources))) found.push({ where, what: `the subresource ${name} is gone` });
  }
  return [...found, ...ofSchema(`${where} `, schemaOf(before), schemaOf(after))];
}

function schemaOf(version: JsonObject): JsonObject {
  return objectOf(objectOf(version.schema).openAPIV3Schema);
}

function ofSchema(where: string, before: JsonObject, after: JsonObject): Incompatibility[] {
  const words = new Set([...Object.keys(before), ...Object.keys(after)]);
  const binding = [...words].filter((word) => saysSomething(word, before, after));
  const own = binding.flatMap((word) =>
    (RULES[word] ?? changed)(word, before[word], after[word], { before, after }).map((what) => ({ where, what })),
  );
  return [...own, ...ofFields(where, before, after), ...ofElements(where, before, after)];
}

/** The type whose values a word is about; words that are not here are about every value. */
const ABOUT: Readonly<Record<string, string>> = {
  ...{ minItems: 'array', maxItems: 'array', uniqueItems: 'array', items: 'array' },
  ...{ minimum: 'number', maximum: 'number', exclusiveMinimum: 'number', exclusiveMaximum: 'number' },
  ...{ minProperties: 'object', maxProperties: 'object', required: 'object', properties: 'object' },
  ...{ minLength: 'string', maxLength: 'string', pattern: 'string' },
};

/** False if all values that were valid are of a type that the word is not about. */
function saysSomething(word: string, before: JsonObject, after: JsonObject): boolean {
  const type = before.type === 'integer' ? 'number' : before.type;
  if (typeof type !== 'string') return true;
  const excluded = word === 'not' ? objectOf(after.not) : {};
  if (Array.isArray(excluded.enum) && Object.keys(excluded).length === 1) {
    return excluded.enum.some((value) => typeof value === type || isObject(value) || Array.isArray(value));
  }
  return (ABOUT[word] ?? type) === type;
}

function ofFields(where: string, before: JsonObject, after: JsonObject): Incompatibility[] {
  const [old, now] = [objectOf(before.properties), objectOf(after.properties)];
  const found = Object.entries(old).flatMap(([name, schema]) => {
    const next = now[name];
    if (isObject(next)) return ofSchema(`${where}/${name}`, objectOf(schema), next);
    return isOpen(after) ? [] : [{ where: `${where}/${name}`, what: 'the field is gone' }];
  });
  // Where anything may be, anything may be stored.
  const named = isOpen(before) ? Object.keys(now).filter((name) => !(name in old)) : [];
  return [...found, ...named.map((name) => ({ where: `${where}/${name}`, what: 'the field has a schema now' }))];
}

function isOpen(schema: JsonObject): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** Of lists and maps. */
function ofElements(where: string, before: JsonObject, after: JsonObject): Incompatibility[] {
  return ['items', 'additionalProperties'].flatMap((word) => {
    const [old, now] = [before[word], after[word]];
    if (old === undefined && now === undefined) return [];
    if (isObject(old) && isObject(now)) return ofSchema(`${where}/*`, old, now);
    return changed(word, old, now).map((what) => ({ where, what }));
  });
}

type Schemas = { readonly before: JsonObject; readonly after: JsonObject };
type Rule = (word: string, before: Json | undefined, after: Json | undefined, schemas: Schemas) => readonly string[];

const harmless: Rule = () => [];

/** A bound may go or get wider. */
const noLess: Rule = (word, before, after) =>
  after === undefined || (typeof before === 'number' && typeof after === 'number' && after >= before)
    ? []
    : changed(word, before, after);

const noMore: Rule = (word, before, after) =>
  after === undefined || (typeof before === 'number' && typeof after === 'number' && after <= before)
    ? []
    : changed(word, before, after);

/** May go, and is not to come or to change. */
const mayGo: Rule = (word, before, after) => (after === undefined ? [] : changed(word, before, after));

const mayCome: Rule = (word, before, after) => (before === undefined ? [] : changed(word, before, after));

/** A field without a type takes every value. */
const type: Rule = (word, before, after, schemas) =>
  (before === 'integer' && after === 'number') || (after === undefined && isOpen(schemas.after))
    ? []
    : changed(word, before, after);

const choices: Rule = (word, before, after) => {
  if (after === undefined) return [];
  if (before === undefined) return [`${word} is new`];
  return gone(before, after).map((each) => `${word} has no ${each} any more`);
};

/** A field with a default is never missing. */
const required: Rule = (_word, before, after, schemas) => {
  const properties = objectOf(schemas.after.properties);
  const added = gone(after, before).filter((name) => objectOf(properties[JSON.parse(name)]).default === undefined);
  return added.map((name) => `${name} is required now`);
};

/** By what they demand: another message is no other rule. */
const rules: Rule = (_word, before, after) =>
  gone(demandsOf(after), demandsOf(before)).map((rule) => `the rule ${rule} is new`);

function demandsOf(validations: Json | undefined): Json {
  return listOf(validations).map(({ rule, optionalOldSelf }) =>
    optionalOldSelf === undefined ? rule : [rule, optionalOldSelf],
  ) as Json;
}

/** What is not here must stay as it is. */
const RULES: Readonly<Record<string, Rule>> = {
  description: harmless,
  title: harmless,
  example: harmless,
  externalDocs: harmless,
  properties: harmless,
  items: harmless,
  additionalProperties: harmless,
  maximum: noLess,
  maxLength: noLess,
  maxItems: noLess,
  maxProperties: noLess,
  minimum: noMore,
  minLength: noMore,
  minItems: noMore,
  minProperties: noMore,
  exclusiveMaximum: mayGo,
  exclusiveMinimum: mayGo,
  multipleOf: mayGo,
  pattern: mayGo,
  format: mayGo,
  uniqueItems: mayGo,
  nullable: mayCome,
  'x-kubernetes-preserve-unknown-fields': mayCome,
  type,
  enum: choices,
  required,
  'x-kubernetes-validations': rules,
};

function changed(word: string, before: Json | undefined, after: Json | undefined): readonly string[] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (after === undefined) return [`${word} is gone, was ${JSON.stringify(before)}`];
  return [
    `${word} is ${JSON.stringify(after)}, ${before === undefined ? 'was none' : `was ${JSON.stringify(before)}`}`,
  ];
}

/** Members of the one list that the other has not, as JSON. */
function gone(from: Json | undefined, list: Json | undefined): readonly string[] {
  const members = (value: Json | undefined) => (Array.isArray(value) ? value.map((each) => JSON.stringify(each)) : []);
  const left = new Set(members(list));
  return members(from).filter((each) => !left.has(each));
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function at(object: JsonObject, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, name) => objectOf(value)[name], object);
}

// Rewrites manifests in the spelling of the stored version. Changes only API versions, names and paths of fields,
// enumeration values and references. Comments, anchors and layout stay.

import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import { ALIAS_OF, deprecationOf, NEW_WORDS, REFERENCE } from '#std/schema/marks.ts';
import { parseNodes } from '#std/yaml/nodes.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import { readerOf } from './aliases.ts';
import { DOCUMENTED_VERSION, VERSION } from './crd.ts';
import type { Kind } from './kind.ts';

export type Respelled =
  | { readonly text: string }
  /** Reason why the text is unchanged. */
  | { readonly fault: string };

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface EditedText {
  readonly text: string;
  readonly edits: Edit[];
}

/**
 * Returns the manifests in the current spelling. Parses the result again, and returns a fault if its meaning has
 * changed.
 */
export function respell(text: string, kinds: readonly Kind[], apiGroup: string): Respelled {
  const before = readDocuments(text, '');
  const [problem] = before.flatMap(({ problems }) => problems);
  if (problem !== undefined) return { fault: `line ${problem.place?.line ?? 1}: ${problem.message}` };
  const source: EditedText = { text, edits: [] };
  for (const { contents } of parseNodes(text).documents) {
    for (const object of objectsIn(contents)) respellObject(source, object, kinds, apiGroup);
  }
  if (source.edits.length === 0) return { text };
  const changed = edited(source);
  const after = readDocuments(changed, '');
  const isSame =
    after.every(({ problems }) => problems.length === 0) &&
    jsonEquals(meaning(before, kinds, apiGroup), meaning(after, kinds, apiGroup));
  return isSame ? { text: changed } : { fault: CHANGED_MEANING };
}

const CHANGED_MEANING = 'its meaning would change. Write it in the spelling of v1beta1 by hand';

function edited({ text, edits }: EditedText): string {
  const sorted = edits.toSorted((a, b) => b.start - a.start || b.end - a.end);
  return sorted.reduce((result, { start, end, text: next }) => result.slice(0, start) + next + result.slice(end), text);
}

/**
 * Returns the objects in order, with current field names in specs of skep's kinds. Other objects are returned
 * unchanged.
 */
function meaning(documents: readonly ReadDocument[], kinds: readonly Kind[], apiGroup: string): JsonObject[] {
  return documents
    .flatMap(({ value }) => listedObjects(value))
    .map((object) => {
      const kind = kindOf(object.apiVersion, object.kind, kinds, apiGroup);
      if (kind === undefined) return object;
      const spec = isObject(object.spec) ? readerOf(kind.schema.spec, '/spec')(object.spec).value : object.spec;
      return { ...object, apiVersion: `${apiGroup}/${VERSION}`, spec };
    });
}

function listedObjects(value: Json | undefined): readonly JsonObject[] {
  if (!isObject(value)) return [];
  return value.kind === 'List' && Array.isArray(value.items) ? value.items.flatMap(listedObjects) : [value];
}

function kindOf(apiVersion: unknown, name: unknown, kinds: readonly Kind[], apiGroup: string): Kind | undefined {
  const isOurs = [DOCUMENTED_VERSION, VERSION].some((version) => apiVersion === `${apiGroup}/${version}`);
  return isOurs ? kinds.find(({ kind }) => kind === name) : undefined;
}

function objectsIn(node: unknown): readonly YAMLMap[] {
  if (!isMap(node)) return [];
  const items = node.get('kind') === 'List' ? node.get('items') : undefined;
  return isSeq(items) ? items.items.flatMap(objectsIn) : [node];
}

function respellObject(source: EditedText, object: YAMLMap, kinds: readonly Kind[], apiGroup: string): void {
  const kind = kindOf(object.get('apiVersion'), object.get('kind'), kinds, apiGroup);
  if (kind === undefined) return;
  const apiVersion = object.get('apiVersion', true);
  if (isNode(apiVersion)) replaceInside(source, apiVersion, `/${DOCUMENTED_VERSION}`, `/${kind.storedVersion}`);
  const spec = object.get('spec', true);
  if (!isMap(spec)) return;
  respellNode(source, kind.schema.spec, spec);
  moveFields(source, kind.schema.spec, spec);
}

/** Replaces `before` inside a scalar, whose quotes stay. */
function replaceInside({ text, edits }: EditedText, node: Node, before: string, after: string): void {
  const [start, end] = rangeOf(node);
  const own = text.slice(start, end);
  if (own.includes(before)) edits.push({ start, end, text: own.replace(before, after) });
}

function rangeOf({ range }: Node): readonly [start: number, end: number] {
  return [range?.[0] ?? 0, range?.[1] ?? 0];
}

function respellNode(source: EditedText, schema: JsonObject, node: unknown): void {
  const { properties, items, additionalProperties } = schema;
  if (isSeq(node) && isObject(items)) for (const item of node.items) respellNode(source, items, item);
  if (isScalar(node) && isObject(schema[NEW_WORDS])) {
    const word = String(node.value);
    const use = schema[NEW_WORDS][word];
    if (typeof use === 'string') replaceInside(source, node, word, use);
  }
  if (!isMap(node)) return;
  for (const pair of node.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '';
    const field = isObject(properties) ? properties[name] : additionalProperties;
    if (!isObject(field)) continue;
    respellField(source, field, node, pair);
  }
}

function respellField(source: EditedText, field: JsonObject, map: YAMLMap, { key, value }: Pair): void {
  const { use, since } = deprecationOf(field) ?? {};
  if (since === VERSION && use !== undefined && !use.includes('.') && !map.has(use) && isScalar(key)) {
    replaceInside(source, key, String(key.value), use);
  }
  const isName = isAlias(value) || (isScalar(value) && typeof value.value === 'string');
  if (field[REFERENCE] !== true || !isName) {
    respellNode(source, field, value);
    return;
  }
  if (!isScalar(key) || !isNode(value)) return;
  const [start, end] = [valueStart(source, key, value), rangeOf(value)[1]];
  source.edits.push({ start, end: start, text: `{${quoted(key, 'name')}: ` }, { start: end, end, text: '}' });
}

/** Returns the offset at which a value begins, including its anchor and tag. */
function valueStart({ text }: EditedText, key: Node, value: Node): number {
  const [from, to] = [rangeOf(key)[1], rangeOf(value)[0]];
  const mark = text.slice(from, to).search(/[&!]/);
  return mark < 0 ? to : from + mark;
}

/** Returns the name in the quotes of an existing key: keys in JSON, which is valid YAML, need quotes. */
function quoted(like: Node, name: string): string {
  return isScalar(like) && like.type === 'QUOTE_DOUBLE' ? `"${name}"` : name;
}

/** Moves fields to their current path in the spec: `config.groupRef` becomes `groupRef`. */
function moveFields(source: EditedText, schema: JsonObject, spec: YAMLMap): void {
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [name, field] of Object.entries(properties)) {
    const path = isObject(field) && typeof field[ALIAS_OF] === 'string' ? field[ALIAS_OF].split('.') : [];
    const [outer = '', inner = ''] = path;
    if (path.length !== 2 || spec.has(name)) continue;
    const parent = spec.items.find(({ key }) => isScalar(key) && key.value === outer);
    if (!isMap(parent?.value)) continue;
    const pair = parent.value.items.find(({ key }) => isScalar(key) && key.value === inner);
    if (pair !== undefined) moveField(source, name, { spec, parent, map: parent.value, pair });
  }
}

interface Move {
  readonly spec: YAMLMap;
  readonly parent: Pair;
  readonly map: YAMLMap;
  readonly pair: Pair;
}

function moveField(source: EditedText, name: string, { spec, parent, map, pair }: Move): void {
  const { text, edits } = source;
  if (!isScalar(parent.key) || !isScalar(pair.key) || !isNode(pair.value)) return;
  const [at, own] = [rangeOf(parent.key)[0], rangeOf(pair.key)[0]];
  const [valueAt, end] = [valueStart(source, pair.key, pair.value), rangeOf(pair.value)[1]];
  const reference = `${quoted(parent.key, name)}: {${quoted(parent.key, 'name')}: ${text.slice(valueAt, end)}}`;
  const between = spec.flow === true ? ', ' : `\n${' '.repeat(at - lineStart(text, at))}`;
  const whole = rangeOf(map)[1];
  edits.push(...movingEdits());

  function movingEdits(): readonly Edit[] {
    const isAlone = map.items.length === 1;
    if (isAlone && !text.slice(at, Math.max(whole, end)).includes('#')) {
      return [{ start: at, end: map.flow === true ? whole : end, text: reference }];
    }
    const inserted = { start: at, end: at, text: reference + between };
    if (isAlone) return [inserted, { start: own, end, text: '{}' }];
    return [inserted, map.flow === true ? flowPair(text, map, pair, own, end) : blockPair(text, own, end)];
  }
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Removes the pair and the comma after it. For the last pair, removes the comma before it. */
function flowPair(text: string, map: YAMLMap, pair: Pair, start: number, end: number): Edit {
  const next = map.items[map.items.indexOf(pair) + 1];
  if (isNode(next?.key)) return { start, end: rangeOf(next.key)[0], text: '' };
  return { start: text.lastIndexOf(',', start), end, text: '' };
}

/** Removes the line of the pair. A comment on this line stays. */
function blockPair(text: string, start: number, end: number): Edit {
  const newline = text.indexOf('\n', end);
  const rest = newline < 0 ? text.length : newline;
  const comment = text.slice(end, rest).indexOf('#');
  if (comment >= 0) return { start, end: end + comment, text: '' };
  return { start: lineStart(text, start), end: Math.min(rest + 1, text.length), text: '' };
}

// Formats a lock file. Equal locks have equal texts. Texts of several lines are YAML blocks, so that the diff of a pull
// request shows the words that a model reads.

import type { Scalar } from 'yaml';
import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';
import { yamlPackage } from '#std/yaml/package.ts';
import { resolveScalar } from '#std/yaml/scalar.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { hasInvisible, INVISIBLE_OR_LINE } from './doubtful.ts';
import { definitionName, LOCKED_LIST_NAMES, type LockedList, TOOL_LOCK, type ToolLock } from './schema.ts';

export interface LockedServer {
  readonly namespace: string;
  readonly name: string;
  readonly spec: ToolLock;
}

/** Returns undefined if YAML cannot represent a value without loss. */
export function formatToolLock({ namespace, name, spec }: LockedServer): string | undefined {
  const { server, ...lists } = spec;
  const object: JsonObject = {
    ...TOOL_LOCK,
    metadata: { name, namespace },
    spec: {
      server: { ...server },
      ...Object.fromEntries(LOCKED_LIST_NAMES.flatMap((list) => sortedList(list, lists[list]))),
    },
  };
  const text = yamlOf(object);
  const [read, ...more] = readDocuments(text, '');
  const isSame =
    more.length === 0 && read?.problems.length === 0 && canonicalJson(read.value) === canonicalJson(object);
  return isSame ? text : undefined;
}

function sortedList(list: LockedList, definitions: readonly JsonObject[] | undefined): [string, Json][] {
  if (definitions === undefined) return [];
  const named = definitions.map((definition) => ({ name: definitionName(list, definition) ?? '', definition }));
  const sorted = named.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [[list, sorted.map(({ definition }) => sortedMembers(definition, FIRST))]];
}

/** Members that are written first, because readers need them most. Other members follow, sorted by name. */
const FIRST = [
  'name',
  'uriTemplate',
  'title',
  'description',
  'annotations',
  'arguments',
  'inputSchema',
  'outputSchema',
];
const FIRST_WITHIN = ['type', 'name', 'title', 'description', 'required', 'properties'];

function sortedMembers(value: JsonObject, first: readonly string[]): JsonObject {
  const keys = Object.keys(value).toSorted((a, b) => memberRank(a, first) - memberRank(b, first) || (a < b ? -1 : 1));
  const copy: JsonObject = Object.create(null);
  for (const key of keys) copy[key] = sortedValue(value[key] ?? null);
  return copy;
}

function sortedValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedValue);
  return isObject(value) ? sortedMembers(value, FIRST_WITHIN) : value;
}

function memberRank(key: string, first: readonly string[]): number {
  const rank = first.indexOf(key);
  return rank < 0 ? first.length : rank;
}

/** Returns the YAML of one definition, as in the file. */
export function formatDefinition(list: LockedList, definition: JsonObject): string {
  return yamlOf({ [list]: [sortedMembers(definition, FIRST)] }).replace(/^.*\n/, '');
}

function yamlOf(object: JsonObject): string {
  const { Document, visit } = yamlPackage();
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false });
  const escaped: string[] = [];
  // Marker that does not occur in the texts of the object.
  const mark = markBeyond(JSON.stringify(object));
  visit(document, {
    Scalar(_key, node) {
      writeScalar(node, (text) => {
        escaped.push(escapedText(text));
        return `${mark}${escaped.length - 1}.`;
      });
    },
  });
  const text = document.toString({ lineWidth: 0 });
  return text.replaceAll(new RegExp(`${mark}(\\d+)\\.`, 'g'), (_all, index: string) => escaped[Number(index)] ?? '');
}

function markBeyond(text: string): string {
  let mark = 'ESCAPED';
  while (text.includes(mark)) mark += 'X';
  return mark;
}

function writeScalar(scalar: Scalar, addEscaped: (text: string) => string): void {
  const { value } = scalar;
  // YAML readers read an unsafe integer as the same double only if it has an exponent.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) scalar.format = 'EXP';
  if (typeof value !== 'string') return;
  if (hasInvisible(value) || value === MERGE_KEY) {
    scalar.value = addEscaped(value);
    scalar.type = 'PLAIN';
  } else if (value.includes('\n')) scalar.type = 'BLOCK_LITERAL';
  else if (isMeantOtherwise(value)) scalar.type = 'QUOTE_DOUBLE';
}

/** Returns true if Kubernetes clients would read the unquoted text as a value of another type. */
function isMeantOtherwise(text: string): boolean {
  const resolved = resolveScalar(text, true, undefined);
  return !resolved.ok || resolved.value !== text;
}

const MERGE_KEY = '<<';

/** Returns the text in double quotes, with escapes for invisible characters. */
function escapedText(text: string): string {
  return JSON.stringify(text).replaceAll(INVISIBLE_OR_LINE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

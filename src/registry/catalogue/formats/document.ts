// Reads the entries of a registry file, and reports each rejected entry with its place in the file.

import { isObject, type Json, jsonEquals, pointerToken } from '#std/json.ts';
import { jsonFault, jsonFind, jsonMembers, linePlaces } from '#std/json-place.ts';
import type { Problem, SourcePlace } from '#std/problem.ts';
import type { CatalogueCode } from '../codes.ts';
import { type CatalogueEntry, unstorable } from '../entry.ts';

export interface ServerGroup {
  readonly name: string;
  readonly description: string;
}

export interface Rejected {
  readonly problem: Problem;
  /** The server's name, if readable in the broken entry. */
  readonly name?: string;
}

export type ParsedDocument =
  | {
      readonly ok: true;
      readonly entries: readonly CatalogueEntry[];
      readonly rejected: readonly Rejected[];
      /** Groups in ToolHive's format. The document of each grouped entry also names its groups. */
      readonly groups: readonly ServerGroup[];
    }
  | { readonly ok: false; readonly problem: Problem };

/** A parsed JSON text, with a function that converts offsets to places. */
export interface JsonDocument {
  readonly text: string;
  /** File name or URL of the text, for messages. */
  readonly location: string;
  readonly root: Json;
  readonly placeOf: (offset: number) => SourcePlace;
}

/** An unchecked entry of a file. */
export interface Item {
  readonly pointer: string;
  /** Offset of the member in the text. */
  readonly offset: number;
  readonly valueStart: number;
  readonly valueLength: number;
  /** Key of the entry in a map, or its index in a list. */
  readonly key: string;
  readonly value: Json;
}

/** A fault within an item. `pointer` is the JSON pointer within the item. */
export interface Mistake {
  readonly pointer: string;
  readonly message: string;
}

/** Parses JSON text. Ignores a byte order mark (RFC 8259 section 8.1). */
export function readJson(content: string, location: string): JsonDocument | Problem {
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content;
  const lines = linePlaces(text);
  const placeOf = (offset: number): SourcePlace => ({ file: location, ...lines(offset) });
  try {
    return { text, location, root: JSON.parse(text), placeOf };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { offset, message } = jsonFault(text) ?? { offset: 0, message: error.message };
    return problem('registry-not-json', `not JSON: ${message}`, placeOf(offset));
  }
}

/**
 * Returns the members of the map or list at the pointer, including members with repeated names. Returns an empty list
 * if `value` is not a map or list.
 */
export function itemsAt(document: JsonDocument, pointer: string, value: Json | undefined): Item[] {
  if (typeof value !== 'object' || value === null) return [];
  const { text } = document;
  const members = jsonMembers(text, jsonFind(text, pointer).valueStart);
  const counts = new Map<string, number>();
  for (const { key } of members) counts.set(key, (counts.get(key) ?? 0) + 1);
  return members.map((member) => {
    const { key, offset, valueStart, valueEnd } = member;
    const repeated = (counts.get(key) ?? 0) > 1;
    const own = Array.isArray(value) ? value[Number(key)] : value[key];
    const parsed: Json = repeated ? JSON.parse(text.slice(valueStart, valueEnd)) : (own ?? null);
    return {
      pointer: `${pointer}/${pointerToken(key)}`,
      offset,
      valueStart,
      valueLength: valueEnd - valueStart,
      key,
      value: parsed,
    };
  });
}

/** Creates a problem of an item, at the place of the first mistake. */
export function itemProblem(
  document: JsonDocument,
  item: Item,
  code: CatalogueCode,
  mistakes: readonly Mistake[],
): Problem {
  const [first] = mistakes;
  const inner = first?.pointer ?? '';
  const offset = inner === '' ? item.offset : jsonFind(document.text, inner, item.valueStart).offset;
  const message = mistakes.map((mistake) => `${item.pointer}${mistake.pointer} ${mistake.message}`).join('; ');
  // A warning, because a broken entry does not affect other entries.
  return { ...problem(code, message, document.placeOf(offset)), severity: 'warning', pointer: item.pointer + inner };
}

export function wrongShape(document: JsonDocument, pointer: string, message: string): Problem {
  const { offset } = jsonFind(document.text, pointer);
  return { ...problem('registry-wrong-shape', message, document.placeOf(offset)), pointer };
}

export type ReadResult = { readonly entry: CatalogueEntry } | { readonly mistakes: readonly Mistake[] };

/**
 * Reads the listed items with the `read` of a format. Rejects broken and repeated items. `nameOf` returns the name of a
 * broken item.
 */
export function readEntries<T extends { readonly item: Item }>(
  document: JsonDocument,
  listed: readonly T[],
  read: (each: T) => ReadResult,
  nameOf: (item: Item) => string | undefined,
): { readonly entries: readonly CatalogueEntry[]; readonly rejected: readonly Rejected[] } {
  const valid: { item: Item; entry: CatalogueEntry }[] = [];
  const rejected: Rejected[] = [];
  for (const each of listed) {
    const { item } = each;
    const flaw = unstorable(item.value);
    const result = flaw === undefined ? read(each) : { mistakes: [flaw] };
    if ('entry' in result) {
      valid.push({ item, entry: result.entry });
      continue;
    }
    const name = nameOf(item);
    const problem = itemProblem(document, item, 'registry-entry-invalid', result.mistakes);
    rejected.push(name === undefined ? { problem } : { problem, name });
  }
  const unique = withoutDuplicates(document, valid);
  return { entries: unique.entries, rejected: [...rejected, ...unique.rejected] };
}

/** Keeps the first of several entries with the same name and version, and rejects the later entries. */
function withoutDuplicates(
  document: JsonDocument,
  read: readonly { readonly item: Item; readonly entry: CatalogueEntry }[],
): { entries: CatalogueEntry[]; rejected: Rejected[] } {
  const first = new Map<string, Item>();
  const entries: CatalogueEntry[] = [];
  const rejected: Rejected[] = [];
  for (const { item, entry } of read) {
    const id = `${entry.name} ${entry.version}`;
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, item);
      entries.push(entry);
      continue;
    }
    const { line } = document.placeOf(earlier.offset);
    const same = jsonEquals(earlier.value, item.value) ? 'the same' : 'another';
    const message = `is ${same} entry for ${entry.name} version ${entry.version}, which line ${line} has already`;
    rejected.push({
      problem: itemProblem(document, item, 'registry-entry-duplicate', [{ pointer: '', message }]),
      name: entry.name,
    });
  }
  return { entries, rejected };
}

/** Returns a member of an object. Returns undefined for other values. */
export function member(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function problem(code: CatalogueCode, message: string, place: SourcePlace): Problem {
  return { code, severity: 'error', message, place };
}

// Reads plain YAML quickly, without the places of values. Texts that two parsers could read differently (anchors, tags,
// directives, tabs, merge keys, faults) are left to `readCarefully`.

import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import type { Json, JsonObject } from '../json.ts';
import { resolveScalar } from './scalar.ts';

/** Parsers differ on tabs, line breaks other than LF, unprintable characters, and unpaired surrogates. */
const UNUSUAL = /[^\n\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

/**
 * js-yaml reads an indented `---` or `...` as a marker instead of text, and accepts invalid text that begins with `%`.
 */
const UNUSUAL_LINE = /^(?: *%| +(?:---|\.\.\.)(?: |$))/m;

function hasUnusualLine(text: string): boolean {
  // A search for words is much faster than a check of each line.
  const suspicious = text.includes('%') || text.includes(' ---') || text.includes(' ...');
  return suspicious && UNUSUAL_LINE.test(text);
}

/** Returned if `readCarefully` must read the text. */
const UNUSUAL_TEXT = Symbol('unusual');
type Unusual = typeof UNUSUAL_TEXT;

interface PlainReader {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
  /** End of the last scalar, or start of the last collection. */
  end: number;
  /** Number of open flow collections. */
  flows: number;
}

/** Returns the values of all documents that are not empty. Returns undefined if `readCarefully` must read the text. */
export function plainValues(text: string): Json[] | undefined {
  if (UNUSUAL.test(text) || hasUnusualLine(text)) return undefined;
  const events = eventsOf(text);
  if (events === undefined) return undefined;
  const reader: PlainReader = { text, events, next: 0, end: 0, flows: 0 };
  const values: Json[] = [];
  while (reader.next < events.length) {
    const value = readDocument(reader);
    if (value === UNUSUAL_TEXT) return undefined;
    if (value !== null) values.push(value);
  }
  return values;
}

/** Returns undefined if the text is broken. `readCarefully` then reports the fault and its place. */
function eventsOf(text: string): readonly Event[] | undefined {
  try {
    return parseEvents(text, {});
  } catch (error) {
    if (error instanceof YAMLException || error instanceof RangeError) return undefined;
    throw error;
  }
}

function readDocument(reader: PlainReader): Json | Unusual {
  const event = reader.events[reader.next++];
  if (event?.type !== EVENT_ID.DOCUMENT || event.directives.length > 0) return UNUSUAL_TEXT;
  if (ended(reader)) return null;
  const value = readNode(reader);
  return value === UNUSUAL_TEXT || !ended(reader) ? UNUSUAL_TEXT : value;
}

/** Returns whether the collection or document ends at the next event, and skips that event. */
function ended(reader: PlainReader): boolean {
  if (reader.events[reader.next]?.type !== EVENT_ID.POP) return false;
  reader.next++;
  return true;
}

function readNode(reader: PlainReader): Json | Unusual {
  const event = reader.events[reader.next++];
  if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return UNUSUAL_TEXT;
  if (event.anchorStart >= 0 || event.type === EVENT_ID.ALIAS || event.tagStart >= 0) return UNUSUAL_TEXT;
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return readScalar(reader, event);
    case EVENT_ID.SEQUENCE:
      return readCollection(reader, event, readList);
    case EVENT_ID.MAPPING:
      return readCollection(reader, event, readMapping);
  }
}

type CollectionEvent = Event & { type: typeof EVENT_ID.SEQUENCE | typeof EVENT_ID.MAPPING };

function readCollection(
  reader: PlainReader,
  { start, style }: CollectionEvent,
  read: (reader: PlainReader) => Json | Unusual,
): Json | Unusual {
  reader.end = start + 1;
  if (style === COLLECTION_STYLE.BLOCK) return read(reader);
  reader.flows++;
  const value = read(reader);
  reader.flows--;
  return reader.flows === 0 && !standsAlone(reader) ? UNUSUAL_TEXT : value;
}

/** Characters after the last scalar that close flow collections. A comment ends the match. */
const CLOSING = /["']?[\s,[\]{}]*/y;

/** Returns whether white space or the end follows the last closing bracket: js-yaml reads `{a: b}c` as two values. */
function standsAlone({ text, end }: PlainReader): boolean {
  CLOSING.lastIndex = end;
  CLOSING.test(text);
  const after = CLOSING.lastIndex;
  return after === text.length || /\s/.test(text[after - 1] ?? '');
}

type ScalarEvent = Event & { type: typeof EVENT_ID.SCALAR };

function readScalar(reader: PlainReader, event: ScalarEvent): Json | Unusual {
  const { text } = reader;
  if (event.valueEnd >= 0) reader.end = event.valueEnd;
  if (isBlock(event) && !isPlainBlock(text, event)) return UNUSUAL_TEXT;
  const written = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return written;
  const resolved = resolveScalar(written, true, undefined);
  return resolved.ok && resolved.inexact !== true ? resolved.value : UNUSUAL_TEXT;
}

function isBlock({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
}

/** Returns whether the block has neither an explicit width (`|2`) nor lines of blanks. */
function isPlainBlock(text: string, { valueStart, valueEnd }: ScalarEvent): boolean {
  const header = text.slice(text.lastIndexOf('\n', valueStart - 2) + 1, valueStart);
  return !/[|>][-+]?[0-9]/.test(header) && !/(?:^|\n) +(?:\n|$)/.test(text.slice(valueStart, valueEnd));
}

function readList(reader: PlainReader): Json[] | Unusual {
  const items: Json[] = [];
  while (!ended(reader)) {
    const item = readNode(reader);
    if (item === UNUSUAL_TEXT) return UNUSUAL_TEXT;
    items.push(item);
  }
  return items;
}

function readMapping(reader: PlainReader): JsonObject | Unusual {
  const fields: JsonObject = {};
  while (!ended(reader)) {
    const key = readKey(reader);
    if (key === undefined || Object.hasOwn(fields, key)) return UNUSUAL_TEXT;
    const value = readNode(reader);
    if (value === UNUSUAL_TEXT) return UNUSUAL_TEXT;
    fields[key] = value;
  }
  return fields;
}

/** Maximum length of a key, which is on one line (YAML 1.2.2 section 7.4.2). */
const KEY_LENGTH_MAX = 1024;

/** Returns undefined for a key that parsers could read differently. */
function readKey(reader: PlainReader): string | undefined {
  const event = reader.events[reader.next];
  if (event?.type !== EVENT_ID.SCALAR || event.anchorStart >= 0 || event.tagStart >= 0) return undefined;
  reader.next++;
  const { valueStart, valueEnd, fast, style } = event;
  if (valueEnd - valueStart > KEY_LENGTH_MAX) return undefined;
  const written = reader.text.slice(valueStart, valueEnd);
  if (!fast && written.includes('\n')) return undefined;
  reader.end = valueEnd;
  if (style === SCALAR_STYLE.PLAIN) return plainKey(written);
  const key = getScalarValue(reader.text, event);
  return isUnusualKey(key) ? undefined : key;
}

/** Keys by their text. Manifests have few different keys, so all fields of the same name share one string. */
const plainKeys = new Map<string, string | undefined>();
const PLAIN_KEYS_MAX = 10_000;

function plainKey(written: string): string | undefined {
  const known = plainKeys.get(written);
  if (known !== undefined || plainKeys.has(written)) return known;
  const resolved = resolveScalar(written, true, undefined);
  const usual = resolved.ok && resolved.inexact !== true && resolved.value !== null;
  const key = usual && !isUnusualKey(written) ? String(resolved.value) : undefined;
  // The name of a property is a string with fast lookup, and does not keep the whole text in memory.
  const [shared] = key === undefined ? [] : Object.keys({ [key]: true });
  if (plainKeys.size >= PLAIN_KEYS_MAX) plainKeys.clear();
  plainKeys.set(key === written && shared !== undefined ? shared : written, shared);
  return shared;
}

function isUnusualKey(key: string): boolean {
  return key === '<<' || key === '__proto__';
}

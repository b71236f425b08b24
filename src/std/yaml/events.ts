// The quick way through plain YAML: the values of a text that holds nothing unusual, without the places of anything.
// Whatever two parsers could read differently (anchors, tags, directives, tabs, merge keys, and every fault) is left to the
// careful way.

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

/** Tabs, other line breaks than LF, what is not printable, and halves of pairs: parsers differ about them. */
const UNUSUAL = /[^\n\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

/** An indented `---` or `...` is text, which js-yaml takes for a marker; text may not begin with `%`, but does there. */
const UNUSUAL_LINE = /^(?: *%| +(?:---|\.\.\.)(?: |$))/m;

function hasUnusualLine(text: string): boolean {
  // Searching for a word is much quicker than looking at every line.
  const suspicious = text.includes('%') || text.includes(' ---') || text.includes(' ...');
  return suspicious && UNUSUAL_LINE.test(text);
}

/** Says that the text is for the careful way. */
const UNUSUAL_TEXT = Symbol('unusual');
type Unusual = typeof UNUSUAL_TEXT;

interface Reader {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
  /** Where the last scalar ends, or the last collection begins. */
  end: number;
  /** How many flow collections are open. */
  flows: number;
}

/** The value of every document that is not empty; undefined where the text is for the careful way. */
export function plainValues(text: string): Json[] | undefined {
  if (UNUSUAL.test(text) || hasUnusualLine(text)) return undefined;
  const events = eventsOf(text);
  if (events === undefined) return undefined;
  const reader: Reader = { text, events, next: 0, end: 0, flows: 0 };
  const values: Json[] = [];
  while (reader.next < events.length) {
    const value = readDocument(reader);
    if (value === UNUSUAL_TEXT) return undefined;
    if (value !== null) values.push(value);
  }
  return values;
}

/** Undefined where the text is broken: what is wrong, and where, is for the careful way to say. */
function eventsOf(text: string): readonly Event[] | undefined {
  try {
    return parseEvents(text, {});
  } catch (error) {
    if (error instanceof YAMLException || error instanceof RangeError) return undefined;
    throw error;
  }
}

function readDocument(reader: Reader): Json | Unusual {
  const event = reader.events[reader.next++];
  if (event?.type !== EVENT_ID.DOCUMENT || event.directives.length > 0) return UNUSUAL_TEXT;
  if (ended(reader)) return null;
  const value = readNode(reader);
  return value === UNUSUAL_TEXT || !ended(reader) ? UNUSUAL_TEXT : value;
}

/** Whether the collection or document ends here; goes past its end. */
function ended(reader: Reader): boolean {
  if (reader.events[reader.next]?.type !== EVENT_ID.POP) return false;
  reader.next++;
  return true;
}

function readNode(reader: Reader): Json | Unusual {
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
  reader: Reader,
  { start, style }: CollectionEvent,
  read: (reader: Reader) => Json | Unusual,
): Json | Unusual {
  reader.end = start + 1;
  if (style === COLLECTION_STYLE.BLOCK) return read(reader);
  reader.flows++;
  const value = read(reader);
  reader.flows--;
  return reader.flows === 0 && !standsAlone(reader) ? UNUSUAL_TEXT : value;
}

/** What closes flow collections, from the end of their last scalar on; a comment in between stops it. */
const CLOSING = /["']?[\s,[\]{}]*/y;

/** Whether nothing sticks to the bracket that closed last: js-yaml reads `{a: b}c` as two values. */
function standsAlone({ text, end }: Reader): boolean {
  CLOSING.lastIndex = end;
  CLOSING.test(text);
  const after = CLOSING.lastIndex;
  return after === text.length || /\s/.test(text[after - 1] ?? '');
}

type ScalarEvent = Event & { type: typeof EVENT_ID.SCALAR };

function readScalar(reader: Reader, event: ScalarEvent): Json | Unusual {
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

/** Without a width of its own (`|2`), and without lines of blanks only. */
function isPlainBlock(text: string, { valueStart, valueEnd }: ScalarEvent): boolean {
  const header = text.slice(text.lastIndexOf('\n', valueStart - 2) + 1, valueStart);
  return !/[|>][-+]?[0-9]/.test(header) && !/(?:^|\n) +(?:\n|$)/.test(text.slice(valueStart, valueEnd));
}

function readList(reader: Reader): Json[] | Unusual {
  const items: Json[] = [];
  while (!ended(reader)) {
    const item = readNode(reader);
    if (item === UNUSUAL_TEXT) return UNUSUAL_TEXT;
    items.push(item);
  }
  return items;
}

function readMapping(reader: Reader): JsonObject | Unusual {
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

/** YAML 1.2.2 section 7.4.2: a key is on one line, and not longer than this. */
const KEY_LENGTH_MAX = 1024;

/** Undefined: no key that is read alike by all. */
function readKey(reader: Reader): string | undefined {
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

/** The keys of manifests are few and the same: what each means is kept, so that all fields of a name share one string. */
const plainKeys = new Map<string, string | undefined>();
const PLAIN_KEYS_MAX = 10_000;

function plainKey(written: string): string | undefined {
  const known = plainKeys.get(written);
  if (known !== undefined || plainKeys.has(written)) return known;
  const resolved = resolveScalar(written, true, undefined);
  const usual = resolved.ok && resolved.inexact !== true && resolved.value !== null;
  const key = usual && !isUnusualKey(written) ? String(resolved.value) : undefined;
  // As the name of a property it becomes a string that is quick to look up; and it no longer holds the whole text.
  const [shared] = key === undefined ? [] : Object.keys({ [key]: true });
  if (plainKeys.size >= PLAIN_KEYS_MAX) plainKeys.clear();
  plainKeys.set(key === written && shared !== undefined ? shared : written, shared);
  return shared;
}

function isUnusualKey(key: string): boolean {
  return key === '<<' || key === '__proto__';
}

// Replaces long values of Secrets and ConfigMaps by stand-ins, so that the values need not stay in memory. A stand-in
// is base64 and contains the value's length and SHA-256, so that different values have different stand-ins.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { sha256 } from '#std/hash.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from './object.ts';

/** Long values by stand-in. */
export type LongValues = ReadonlyMap<string, string>;

/** Reads the long values of one object. Callers must drop the values after use. */
export type ReadContents = () => Promise<LongValues>;

/** Minimum length of a replaced value in base64 characters. */
const LONG = 64 * 1024;

/** A random text of this process, so that no text in a file or object is mistaken for a stand-in. */
const MARK = `${randomBytes(12).toString('hex')}/`;
const BEGINNING = `skep/large/value/${MARK}`;
/** A stand-in is valid base64, so that fields for base64 accept it. */
const STAND_IN = new RegExp(`^${BEGINNING}(?<length>\\d+)/(?<digest>[0-9a-f]{64})/{1,4}$`);

/** End of canonical base64. The server stores no other form. */
const ENDING = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;
/** Letters that no YAML number contains. */
const LETTER = /[g-mp-wyzG-MP-WYZ]/;

function isLong(text: string): boolean {
  return text.length >= LONG && text.length % 4 === 0 && ENDING.test(text.slice(-4)) && LETTER.test(text);
}

function standInFor(value: string): string {
  const text = `${BEGINNING}${value.length}/${sha256(value)}/`;
  return text.padEnd(Math.ceil(text.length / 4) * 4, '/');
}

export function isStandIn(value: Json | undefined): value is string {
  return typeof value === 'string' && STAND_IN.test(value);
}

/** Replaces each stand-in by a readable description. */
export function describeLongValues(value: Json): Json {
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, describeLongValues(each ?? null)]));
  const { length, digest } = (typeof value === 'string' && STAND_IN.exec(value)?.groups) || {};
  return length === undefined ? value : `(${length} characters of base64, SHA-256 ${digest})`;
}

/** Returns canonical JSON without the random text of this process, so that digests are equal in every process. */
export function lastingJson(value: unknown): string {
  return canonicalJson(value).replaceAll(BEGINNING, BEGINNING.slice(0, -MARK.length));
}

/** Returns the name of the field whose values are base64. */
function memberOf({ apiVersion, kind }: JsonObject): 'data' | 'binaryData' | undefined {
  if (apiVersion !== 'v1') return undefined;
  if (kind === 'Secret') return 'data';
  return kind === 'ConfigMap' ? 'binaryData' : undefined;
}

/** Returns the object itself if it has no long values. */
export function shortenObject(object: KubeObject): KubeObject {
  return withValues(object, (value) => (isLong(value) ? standInFor(value) : value));
}

export function longValuesOf(object: KubeObject): LongValues {
  const values = new Map<string, string>();
  withValues(object, (value) => {
    if (isLong(value)) values.set(standInFor(value), value);
    return value;
  });
  return values;
}

export function standInsOf(object: JsonObject): readonly string[] {
  const member = memberOf(object);
  const values = member === undefined ? undefined : object[member];
  return isObject(values) ? Object.values(values).filter(isStandIn) : [];
}

/** Replaces the stand-ins in the object by the values. */
export function restoreObject(object: KubeObject, values: LongValues): KubeObject {
  return withValues(object, (value) => {
    if (!isStandIn(value)) return value;
    const found = values.get(value);
    assert(found !== undefined, 'the value of a stand-in is known from reading the object');
    return found;
  });
}

function withValues(object: KubeObject, replace: (value: string) => string): KubeObject {
  const member = memberOf(object);
  const values = member === undefined ? undefined : object[member];
  if (member === undefined || !isObject(values)) return object;
  const entries = Object.entries(values).map(([key, value]): [string, Json | undefined] => [
    key,
    typeof value === 'string' ? replace(value) : value,
  ]);
  return entries.every(([key, value]) => values[key] === value)
    ? object
    : { ...object, [member]: Object.fromEntries(entries) };
}

/** A text whose long runs of base64 are replaced by stand-ins. */
export interface ShortText {
  readonly text: string;
  readonly cuts: readonly Cut[];
  readonly values: LongValues;
}

/**
 * Position of a stand-in, in the original text. Line and column start at 1. `removed` is the number of dropped
 * characters.
 */
export interface Cut {
  readonly line: number;
  readonly column: number;
  readonly removed: number;
}

export function shortenText(text: string): ShortText {
  const parts: string[] = [];
  const cuts: Cut[] = [];
  const values = new Map<string, string>();
  let [end, line, lineStart] = [0, 1, 0];
  for (const [from, to] of longRuns(text)) {
    const run = text.slice(from, to);
    if (!isLong(run)) continue;
    const standIn = standInFor(run);
    const between = text.slice(end, from);
    const breaks = between.split('\n').length - 1;
    if (breaks > 0) [line, lineStart] = [line + breaks, end + between.lastIndexOf('\n') + 1];
    parts.push(between, standIn);
    cuts.push({ line, column: from - lineStart + 1, removed: run.length - standIn.length });
    values.set(standIn, run);
    end = to;
  }
  parts.push(text.slice(end));
  // A slice keeps the whole original text in memory, so the result is copied.
  return { text: cuts.length === 0 ? text : Buffer.from(parts.join('')).toString(), cuts, values };
}

/**
 * Yields runs of base64 characters. The search tests only positions that are multiples of the minimum length, because
 * every run that is long enough contains such a position.
 */
function* longRuns(text: string): Generator<readonly [number, number]> {
  for (let at = LONG; at < text.length; ) {
    let [from, to] = [at, at];
    while (from > 0 && isBase64(text, from - 1)) from -= 1;
    while (to < text.length && isBase64(text, to)) to += 1;
    for (let padding = 0; padding < 2 && text[to] === '='; padding += 1) to += 1;
    if (to - from >= LONG) yield [from, to];
    at = Math.max(at + LONG, Math.ceil(to / LONG) * LONG);
  }
}

const ALPHABET = new Uint8Array(128);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  ALPHABET[character.charCodeAt(0)] = 1;
}

function isBase64(text: string, index: number): boolean {
  return ALPHABET[text.charCodeAt(index)] === 1;
}

/** Counts the texts that look like stand-ins. */
export function countStandIns(text: string): number {
  return text.split(BEGINNING).length - 1;
}

/** Converts a column of the shortened text to a column of the original text. */
export function columnBefore(cuts: readonly Cut[], line: number, column: number): number {
  return cuts
    .filter((cut) => cut.line === line)
    .reduce((moved, cut) => (moved > cut.column ? moved + cut.removed : moved), column);
}

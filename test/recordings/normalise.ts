// Replaces what differs from one run to the next by symbols: what was the same stays the same, what was different stays
// different.

import { isIP } from 'node:net';
import type { Json, JsonObject } from '#std/json.ts';
import { isObject } from '#std/json.ts';
import { at } from './scenario.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** In messages: `"resourceVersion":"7"` of a quoted object, `ResourceVersion in the precondition (7)`. */
const VERSION_IN_TEXT = /(resourceVersion\\*":\\*"|ResourceVersion in (?:the precondition|record) \()(\d+)/g;
const TIME_IN_TEXT = /((?:creationTimestamp|time)\\*":\\*")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const SERVER_TIMES = new Set([
  'creationTimestamp',
  'deletionTimestamp',
  'time',
  'lastTransitionTime',
  'lastUpdateTime',
  'startTime',
]);

/** One for each scenario: symbols are numbered in the order in which a server first speaks of their values. */
export interface Symbols {
  readonly uids: Map<string, string>;
  readonly versions: Map<string, string>;
}

export function newSymbols(): Symbols {
  return { uids: new Map(), versions: new Map() };
}

/** The value with symbols in the place of uids, resourceVersions, server times, addresses and certificates. */
export function normalise(symbols: Symbols, value: Json): Json {
  if (typeof value === 'string') return normaliseText(symbols, value);
  if (Array.isArray(value)) return value.map((item) => normalise(symbols, item));
  if (!isObject(value)) return value;
  if (value.kind === 'Status' && isObject(value.details))
    return sortCauses(value, value.details, (part) => normaliseFields(symbols, part));
  return normaliseFields(symbols, value);
}

function normaliseFields(symbols: Symbols, value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      normaliseText(symbols, key),
      normaliseField(symbols, value, key, child ?? null),
    ]),
  );
}

/** A server walks maps in any order when it collects the causes of an error: here they are sorted. */
function sortCauses(status: JsonObject, details: JsonObject, rest: (status: JsonObject) => JsonObject): Json {
  const { causes } = details;
  if (!Array.isArray(causes) || causes.length < 2) return rest(status);
  const sorted = causes.map((cause) => [`${at(cause, '/field')}: ${at(cause, '/message')}`, cause] as const);
  sorted.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const text = String(status.message);
  const list = text.includes(' is invalid: [') ? text.indexOf(': [') : -1;
  const each = [...new Set(sorted.map(([line]) => line))];
  const message = list < 0 ? text : `${text.slice(0, list)}: [${each.join(', ')}]`;
  return rest({ ...status, message, details: { ...details, causes: sorted.map(([, cause]) => cause) } });
}

/** What a request says itself (a uid, a resourceVersion that no server gave) stays as it is, here and in answers. */
export function normaliseRequest(symbols: Symbols, value: Json): Json {
  const text = JSON.stringify(value);
  for (const [uid] of text.matchAll(UUID)) keepAsItIs(symbols.uids, uid);
  for (const [, version] of text.matchAll(/"resourceVersion":"([^"]*)"/g)) keepAsItIs(symbols.versions, version ?? '');
  return normalise(symbols, value);
}

function keepAsItIs(known: Map<string, string>, value: string): void {
  if (!known.has(value)) known.set(value, value);
}

/** Controllers write in a second of their own choosing, and entries are sorted by time: theirs go last. */
const CONTROLLERS: ReadonlySet<Json | undefined> = new Set(['kube-controller-manager', 'kube-apiserver']);

function controllersLast(entries: readonly Json[]): Json[] {
  const isController = (entry: Json): boolean => CONTROLLERS.has(at(entry, '/manager'));
  return [...entries.filter((entry) => !isController(entry)), ...entries.filter(isController)];
}

function normaliseField(symbols: Symbols, parent: JsonObject, key: string, value: Json): Json {
  if (key === 'managedFields' && Array.isArray(value)) return normalise(symbols, controllersLast(value));
  if (key === 'metadata' && isObject(value) && isCollection(parent)) return normaliseListMeta(symbols, value);
  if (key === 'clusterIPs' && Array.isArray(value))
    return value.map((ip) => normaliseField(symbols, parent, 'clusterIP', ip));
  if (typeof value !== 'string') return normalise(symbols, value);
  if (key === 'resourceVersion') return symbol(symbols.versions, 'version', value);
  if (SERVER_TIMES.has(key) && TIME.test(value)) return '<time>';
  if (key === 'clusterIP' && isIP(value) !== 0) return '<address>';
  if (key === 'serverAddress') return '<address>';
  if (key === 'name' && typeof parent.generateName === 'string' && value.startsWith(parent.generateName)) {
    return `${parent.generateName}<random>`;
  }
  if (value.includes('BEGIN CERTIFICATE')) return '<certificate>';
  return normaliseText(symbols, value);
}

/** A list's own resourceVersion moves with every write to the cluster: nothing to compare. So does a bookmark's. */
function normaliseListMeta(symbols: Symbols, metadata: JsonObject): Json {
  const { resourceVersion, continue: token, ...rest } = metadata;
  const seen: JsonObject = {};
  if (resourceVersion !== undefined) seen.resourceVersion = resourceVersion === '' ? '' : '<now>';
  if (token !== undefined) seen.continue = token === '' ? '' : '<token>';
  return { ...seen, ...(normalise(symbols, rest) as JsonObject) };
}

function isCollection(parent: JsonObject): boolean {
  const { kind, items, rows, metadata } = parent;
  if (Array.isArray(items) || Array.isArray(rows)) return true;
  if (typeof kind === 'string' && kind.endsWith('List')) return true;
  return typeof kind === 'string' && isObject(metadata) && metadata.uid === undefined && metadata.name === undefined;
}

function normaliseText(symbols: Symbols, text: string): string {
  return text
    .replace(UUID, (uid) => symbol(symbols.uids, 'uid', uid))
    .replace(
      VERSION_IN_TEXT,
      (_all, before: string, version: string) => `${before}${symbols.versions.get(version) ?? version}`,
    )
    .replace(TIME_IN_TEXT, (_all, before: string) => `${before}<time>`)
    .replace(/hash=[0-9A-F]{128}/, 'hash=<hash>')
    .replace(/(ReplicaSet "[a-z0-9-]+)-[a-z0-9]{6,10}"/, '$1-<hash>"');
}

function symbol(known: Map<string, string>, what: string, value: string): string {
  if (value === '' || value === '0') return value;
  const existing = known.get(value);
  if (existing !== undefined) return existing;
  const count = [...known.values()].filter((name) => name.startsWith(`${what}#`)).length;
  const created = `${what}#${count + 1}`;
  known.set(value, created);
  return created;
}

// Replaces what differs from one run to the next by symbols: what was the same stays the same, what was different stays
// different. Knows nothing about particular kinds.

import { isIP } from 'node:net';
import type { Json, JsonObject } from '../../src/std/json.ts';
import { isObject } from '../../src/std/json.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const VERSION_IN_TEXT = /(resource ?version[^:]*: )(\d+)( \(\d+\))?/gi;
const SERVER_TIMES = new Set(['creationTimestamp', 'deletionTimestamp', 'time', 'lastTransitionTime', 'lastUpdateTime', 'startTime']);

/** One for each scenario: symbols are numbered in the order in which their values first appear. */
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
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      normaliseText(symbols, key),
      normaliseField(symbols, value, key, child ?? null),
    ]),
  );
}

/** A resourceVersion in a request's query, which may also be one that no object ever had. */
export function normaliseVersion(symbols: Symbols, version: string): string {
  return symbols.versions.get(version) ?? version;
}

function normaliseField(symbols: Symbols, parent: JsonObject, key: string, value: Json): Json {
  if (key === 'metadata' && isObject(value) && isCollection(parent)) return normaliseListMeta(symbols, value);
  if (key === 'clusterIPs' && Array.isArray(value)) return value.map((ip) => normaliseField(symbols, parent, 'clusterIP', ip));
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
    .replace(VERSION_IN_TEXT, (_all, before: string, version: string, current?: string) => {
      return `${before}${normaliseVersion(symbols, version)}${current === undefined ? '' : ' (<now>)'}`;
    })
    .replace(/hash=[0-9A-F]{128}/, 'hash=<hash>');
}

function symbol(known: Map<string, string>, what: string, value: string): string {
  if (value === '' || value === '0') return value;
  const existing = known.get(value);
  if (existing !== undefined) return existing;
  const created = `<${what} ${known.size + 1}>`;
  known.set(value, created);
  return created;
}

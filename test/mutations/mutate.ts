// Manifests with one to three things wrong, or just odd, in them: the same ones for the same seed. In one file, because it is one
// table of mutations.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Random } from '../harness/random.ts';

export interface Mutation {
  /** What was done, and where. */
  readonly what: string;
  /** JSON, with a key twice where that was done. */
  readonly text: string;
}

/** Where a value hangs: in `parent[key]`. */
interface Spot {
  readonly parent: JsonObject | Json[];
  readonly key: string | number;
  readonly path: string;
}

/** Says what it did; undefined where it does not fit the spot. */
type Change = (random: Random, spot: Spot, all: readonly Spot[]) => string | undefined;

/** Behind a key that is to stand twice; no other text holds it. */
const TWICE = '\u0001';

export function mutated(random: Random, original: JsonObject): Mutation {
  const object = structuredClone(original);
  const done: string[] = [];
  const wanted = random.pick([1, 1, 1, 2, 3]);
  for (let attempt = 0; done.length < wanted && attempt < 30; attempt++) {
    const all = spotsIn(object, '');
    if (all.length === 0) break;
    const spot = random.pick(all);
    const what = random.pick(CHANGES)(random, spot, all);
    if (what !== undefined) done.push(`${spot.path}: ${what}`);
  }
  return { what: done.join('; '), text: JSON.stringify(object).replaceAll('\\u0001', '') };
}

/** By these a server finds the schema and the namespace; they are in the URL of the request, too. */
const IDENTITY: ReadonlySet<string> = new Set(['/apiVersion', '/kind', '/metadata', '/metadata/namespace']);

/** Everything below the object but what says which kind of object it is, and where. */
function spotsIn(value: Json, path: string): Spot[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, key) => [
      { parent: value, key, path: `${path}/${key}` },
      ...spotsIn(item, `${path}/${key}`),
    ]);
  }
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const below = `${path}/${key}`;
    const own = IDENTITY.has(below) ? [] : [{ parent: value, key, path: below }];
    return [...own, ...spotsIn(value[key] ?? null, below)];
  });
}

function at({ parent, key }: Spot): Json {
  return (parent as JsonObject)[key] ?? null;
}

function put({ parent, key }: Spot, value: Json): void {
  (parent as JsonObject)[key] = value;
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
}

function set(spot: Spot, value: Json): string {
  put(spot, value);
  return `set to ${shown(value)}`;
}

function remove(_random: Random, { parent, key }: Spot): string {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return 'removed';
}

function misspell(random: Random, { parent, key }: Spot): string | undefined {
  if (Array.isArray(parent) || typeof key === 'number' || key.length < 3) return undefined;
  const place = 1 + random.integer(key.length - 2);
  const misspelt = random.pick([
    key.slice(0, place) + key.slice(place + 1),
    key.slice(0, place) + key[place + 1] + key[place] + key.slice(place + 2),
    `${key}s`,
    key.toUpperCase(),
  ]);
  if (misspelt === key) return undefined;
  parent[misspelt] = parent[key];
  delete parent[key];
  return `key misspelt as ${misspelt}`;
}

function retype(random: Random, spot: Spot): string {
  const value = at(spot);
  const others: Json[] = [7, 1.5, true, 'text', '7', 'true', [], {}, ['text'], { text: 'text' }, [[]], [null], [{}]];
  const text = typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
  return set(spot, random.pick([...others, ...text, [value], { value }]));
}

function number(random: Random, spot: Spot): string | undefined {
  if (typeof at(spot) !== 'number') return undefined;
  const bounds = [-1, 0, 1, 2, 10, 100, 101, 255, 1023, 1024, 65_535, 65_536, 2_147_483_647, 2_147_483_648];
  return set(spot, random.pick([...bounds, -2_147_483_648, -2_147_483_649, 0.5, 1e3, 1.0, 1e20, 4_294_967_296]));
}

const LENGTHS = [1, 2, 63, 64, 65, 128, 253, 254, 256, 257, 1024, 1025, 2048, 2049, 4097, 40_000];

function length(random: Random, spot: Spot): string | undefined {
  const value = at(spot);
  if (typeof value !== 'string') return undefined;
  const filler = random.pick(['a', 'é', '😀', value === '' ? 'x' : value]);
  const size = random.pick(LENGTHS);
  return set(spot, filler.repeat(Math.ceil(size / filler.length)).slice(0, size));
}

const TEXTS = [
  ...[
    'ünïcode',
    '日本語',
    '😀',
    'a\u0000b',
    'a\nb',
    ' a',
    'a ',
    'A',
    'a_b',
    'a..b',
    '-a',
    'a-',
    'a/b',
    '*',
    '$(HOME)',
    '{{.x}}',
  ],
  ...[
    'http://',
    'http://[::1',
    'https://user:pw@example.com/?q#f',
    'ftp://x',
    '1h',
    '1.5h',
    '-1s',
    '1d',
    '0',
    '0s',
    '9e9h',
  ],
  ...['100m', '1Gi', '-1', '1e3', '.5', '0.0', '1.0', '1.1', '101', 'None', 'null', 'yes', '~', '2026-01-01T00:00:00Z'],
  ...[
    '\u200b',
    '\u202eabc',
    'a\u0301',
    '١',
    'ſ',
    'İ',
    '\ufeff',
    '\ud7ff',
    'permit(principal, action, resource);',
    '{}',
  ],
];

function text(random: Random, spot: Spot): string | undefined {
  return typeof at(spot) === 'string' ? set(spot, random.pick(TEXTS)) : undefined;
}

function nearWord(random: Random, spot: Spot): string | undefined {
  const value = at(spot);
  if (typeof value !== 'string' || value === '') return undefined;
  const place = random.integer(value.length);
  const changed = [
    value.slice(0, place) + value.slice(place + 1),
    value.toUpperCase(),
    `${value}x`,
    ` ${value}`,
    value.slice(0, place) + random.pick([...'-_./:@ aZ9']) + value.slice(place),
  ];
  return set(spot, random.pick(changed));
}

function empty(random: Random, spot: Spot): string {
  return set(spot, random.pick<Json>([null, null, '', [], {}]));
}

function swap(random: Random, spot: Spot, all: readonly Spot[]): string | undefined {
  const other = random.pick(all);
  if (spot.path.startsWith(other.path) || other.path.startsWith(spot.path)) return undefined;
  const [one, two] = [at(spot), at(other)];
  put(spot, two);
  put(other, one);
  return `swapped with ${other.path}`;
}

function copy(random: Random, spot: Spot, all: readonly Spot[]): string | undefined {
  const other = random.pick(all);
  if (spot.path.startsWith(other.path)) return undefined;
  put(spot, structuredClone(at(other)));
  return `copied from ${other.path}`;
}

function more(random: Random, spot: Spot): string | undefined {
  const value = at(spot);
  if (!Array.isArray(value)) return undefined;
  const item = value.length === 0 ? random.pick<Json>(['x', {}, 1]) : random.pick(value);
  const times = random.pick([1, 1, 1, 16, 40, 70, 140, 300]);
  for (let time = 0; time < times; time++) value.push(distinct(random, item, time));
  return `${times} more entries`;
}

/** Some the same, some with other keys. */
function distinct(random: Random, item: Json, time: number): Json {
  const twin = structuredClone(item);
  if (random.chance(0.2)) return twin;
  if (typeof twin === 'string') return `${twin}${time}`;
  if (!isObject(twin)) return twin;
  for (const key of ['name', 'key', 'id', 'type']) {
    if (typeof twin[key] === 'string') twin[key] = `${twin[key]}${time}`;
  }
  return twin;
}

function moreKeys(random: Random, spot: Spot): string | undefined {
  const value = at(spot);
  if (!isObject(value)) return undefined;
  const [first] = Object.values(value);
  const times = random.pick([1, 1, 16, 70, 300]);
  for (let time = 0; time < times; time++) value[`key-${time}`] = structuredClone(first ?? 'text');
  return `${times} more keys`;
}

function oddKey(random: Random, spot: Spot): string | undefined {
  const value = at(spot);
  if (!isObject(value)) return undefined;
  const key = random.pick(['', 'a/b', 'a~b', 'a.b', 'é', 'apiVersion', 'kind', 'metadata', 'x'.repeat(300), '0', ' ']);
  value[key] = structuredClone(Object.values(value)[0] ?? 'text');
  return `a key ${shown(key)}`;
}

function twice(_random: Random, { parent, key }: Spot): string | undefined {
  if (Array.isArray(parent)) return undefined;
  parent[`${TWICE}${key}`] = structuredClone(parent[key]);
  return 'key twice';
}

function deep(random: Random, spot: Spot): string {
  let value: Json = 'deep';
  const levels = random.pick([3, 10, 40]);
  for (let level = 0; level < levels; level++) value = random.chance(0.5) ? [value] : { a: value };
  return set(spot, value);
}

/** Fields with two names, and the place of the second one in the spec. */
const SPELLINGS: Readonly<Record<string, string>> = {
  remoteURL: 'remoteUrl',
  hubTokenSecretRef: 'hfTokenSecretRef',
  cloudSts: 'awsSts',
  external_auth_config_ref: 'externalAuthConfigRef',
};

const OTHER_SPELLINGS = new Map(
  Object.entries(SPELLINGS).flatMap(([old, now]) => [[old, now] as const, [now, old] as const]),
);

/** The other spelling of a field: in its place, or next to it with the same value or another one. */
function spelling(random: Random, spot: Spot): string | undefined {
  const { parent, key } = spot;
  const value = at(spot);
  const word = typeof value === 'string' ? OTHER_SPELLINGS.get(value) : undefined;
  if (word !== undefined) return set(spot, word);
  if (Array.isArray(parent) || typeof key === 'number') return undefined;
  if (key === 'groupRef') {
    const { name = 'other' } = isObject(value) ? value : { name: value };
    return set(spot, random.pick<Json>([name, { name }, { name, namespace: 'x' }, { name: '' }, '', {}, [name]]));
  }
  const other = OTHER_SPELLINGS.get(key);
  if (other === undefined) return undefined;
  const next = typeof value === 'string' ? random.pick([value, `${value}/other`]) : structuredClone(value);
  parent[other] = next;
  if (random.chance(0.5)) return `and ${other}: ${shown(next)}`;
  delete parent[key];
  return `spelled ${other}: ${shown(next)}`;
}

const CHANGES: readonly Change[] = [
  ...[remove, remove, misspell, misspell, retype, retype, number, number, length, text, text, nearWord, nearWord],
  ...[empty, empty, swap, copy, more, more, moreKeys, oddKey, twice, deep, spelling, spelling],
];

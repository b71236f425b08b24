// How people change a manifest from one commit to the next, and in how many ways they write the same: the same changes for
// the same random numbers.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { keyType, type MergeType } from '#kubernetes/rules/openapi.ts';
import { itemElement } from '#kubernetes/rules/ownership/element.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Random } from '../harness/random.ts';
import { read, remove, type Spot, spotsOf, write } from './spots.ts';

/** Says what it did; undefined where it found nothing to do. */
type Habit = (random: Random, object: JsonObject, type: MergeType, live?: KubeObject) => string | undefined;

/** Changes what is meant. */
const CHANGES: readonly Habit[] = [
  editValue,
  editValue,
  editValue,
  removeSomething,
  removeSomething,
  removeItem,
  addItem,
  reorderItems,
  reorderItems,
  reorderItems,
  otherQuantity,
  addLabel,
  addEntry,
  emptyContainer,
  falseOrZero,
  intOrString,
];

/** Writes the same in another way; a server may or may not see a difference. */
const SPELLINGS: readonly Habit[] = [
  otherSpelling,
  addNull,
  emptyMetadata,
  dataOrStringData,
  spellDefault,
  spellDefault,
  reorderKeys,
];

const EXPORT_SHARE = 0.04;

/** A copy of the manifest with one to three changes. */
export function changed(random: Random, manifest: KubeObject, type: MergeType, live?: KubeObject): Written {
  const count = random.pick([1, 1, 1, 2, 3]);
  return rewritten(
    random,
    manifest,
    type,
    live,
    Array.from({ length: count }, () => [...CHANGES, ...SPELLINGS]),
  );
}

/** A copy that means the same, but for defaults that are written out. */
export function respelt(random: Random, manifest: KubeObject, type: MergeType, live?: KubeObject): Written {
  if (live !== undefined && random.chance(EXPORT_SHARE)) return exported(live);
  return rewritten(random, manifest, type, live, [SPELLINGS, SPELLINGS]);
}

export interface Written {
  readonly object: KubeObject;
  readonly what: readonly string[];
}

function rewritten(
  random: Random,
  manifest: KubeObject,
  type: MergeType,
  live: KubeObject | undefined,
  steps: readonly (readonly Habit[])[],
): Written {
  const object = structuredClone(manifest);
  const what: string[] = [];
  for (const habits of steps) {
    let done: string | undefined;
    for (let attempt = 0; done === undefined && attempt < 20; attempt += 1) {
      done = random.pick(habits)(random, object as JsonObject, type, live);
    }
    if (done !== undefined) what.push(done);
  }
  return { object, what };
}

/** `kubectl get -o yaml`, without what no server takes back. */
function exported(live: KubeObject): Written {
  const object = structuredClone(live);
  const { managedFields: _m, uid: _u, resourceVersion: _r, generation: _g, ...metadata } = object.metadata;
  return { object: { ...object, metadata }, what: ['written as exported from the cluster'] };
}

function pickSpot(random: Random, object: JsonObject, type: MergeType, fits: (spot: Spot) => boolean) {
  const spots = spotsOf(object, type).filter(fits);
  return spots.length === 0 ? undefined : random.pick(spots);
}

const FREE_TEXT = /\/(labels|annotations|stringData|args|command|image|description|message)\b|\/value$|\/data\/[^/]+$/;

function editValue(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => typeof read(each) !== 'object');
  if (spot === undefined || isQuantity(spot)) return undefined;
  const value = read(spot);
  const next = editedScalar(random, spot, value);
  if (next === undefined || next === value) return undefined;
  write(spot, next);
  return `${spot.path} edited`;
}

function editedScalar(random: Random, { type, path }: Spot, value: Json): Json | undefined {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return Math.max(0, value + random.pick([-1, 1, 2]));
  if (typeof value !== 'string') return undefined;
  if (type.scalar?.spelling === 'base64') return Buffer.from(`edited ${random.integer(9)}`).toString('base64');
  const digits = [...value.matchAll(/\d/g)];
  if (digits.length > 0) {
    const { index } = random.pick(digits);
    return `${value.slice(0, index)}${random.integer(9) + 1}${value.slice(index + 1)}`;
  }
  return FREE_TEXT.test(path) ? `${value}-x` : undefined;
}

function removeSomething(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, ({ parent }) => !Array.isArray(parent));
  if (spot === undefined) return undefined;
  remove(spot);
  return `${spot.path} removed`;
}

function isList(spot: Spot): boolean {
  return Array.isArray(read(spot));
}

function itemsOf(spot: Spot): Json[] {
  const value = read(spot);
  return Array.isArray(value) ? value : [];
}

function removeItem(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => itemsOf(each).length > 1);
  if (spot === undefined) return undefined;
  itemsOf(spot).splice(random.integer(itemsOf(spot).length), 1);
  return `${spot.path}: an item removed`;
}

/** A copy of an item under another name, at either end or between. */
function addItem(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => isList(each) && itemsOf(each).length > 0);
  const list = spot?.type.list;
  if (spot === undefined || list === undefined) return undefined;
  const items = itemsOf(spot);
  const copy = renamed(random, structuredClone(random.pick(items)));
  const names = items.map((item) => JSON.stringify(itemElement(list, item)));
  if (list.merge !== 'atomic' && names.includes(JSON.stringify(itemElement(list, copy)))) return undefined;
  items.splice(random.integer(items.length + 1), 0, copy);
  return `${spot.path}: an item added`;
}

function renamed(random: Random, item: Json): Json {
  const suffix = String(random.integer(9) + 1);
  if (typeof item === 'string') return `${item}${suffix}`;
  if (typeof item === 'number') return item + random.integer(9) + 1;
  if (!isObject(item)) return item;
  const copy = { ...item };
  for (const key of ['name', 'containerPort', 'port', 'key', 'ip', 'host', 'mountPath', 'path']) {
    const value = copy[key];
    if (typeof value === 'string') copy[key] = key === 'ip' ? `10.0.0.${suffix}` : `${value}${suffix}`;
    if (typeof value === 'number') copy[key] = value + random.integer(50) + 1;
  }
  return copy;
}

function reorderItems(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => itemsOf(each).length > 1);
  if (spot === undefined) return undefined;
  const items = itemsOf(spot);
  write(spot, random.chance(0.5) ? [...items].reverse() : [...items.slice(1), ...items.slice(0, 1)]);
  return `${spot.path}: items in another order`;
}

function isQuantity({ type }: Spot): boolean {
  return type.scalar?.spelling === 'quantity';
}

const QUANTITIES: readonly Json[] = [
  '1',
  '1000m',
  '250m',
  '0.25',
  1,
  0.5,
  '1Gi',
  '1024Mi',
  '1.5Gi',
  '128Mi',
  '100M',
  '1e9',
  '2k',
];

function otherQuantity(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, isQuantity);
  if (spot === undefined) return undefined;
  const quantity = random.pick(QUANTITIES);
  write(spot, quantity);
  return `${spot.path} = ${quantity}`;
}

/** Pairs and more of texts for one amount. */
const SAME: readonly (readonly Json[])[] = [
  ['1', '1000m', 1, '1.0'],
  ['100m', '0.1', 0.1],
  ['250m', '0.25', 0.25],
  ['500m', '0.5', 0.5, '.5'],
  ['2', '2000m', 2],
  ['1Gi', '1024Mi', '1048576Ki', '1073741824', 1_073_741_824],
  ['1.5Gi', '1536Mi'],
  ['128Mi', '134217728', 134_217_728, '131072Ki'],
  ['64Mi', '65536Ki'],
  ['10Gi', '10240Mi'],
  ['100M', '100000k', '100000000', '1e8', '100e6'],
  ['1k', '1000', 1000, '1e3'],
  ['2G', '2000M', '2e9'],
];

function otherSpelling(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const fits = (spot: Spot): boolean => isQuantity(spot) && SAME.some((same) => same.includes(read(spot)));
  const spot = pickSpot(random, object, type, fits);
  if (spot === undefined) return undefined;
  const quantity = random.pick(SAME.find((same) => same.includes(read(spot))) ?? []);
  write(spot, quantity);
  return `${spot.path} spelt ${quantity}`;
}

function metadataOf(object: JsonObject): JsonObject {
  return isObject(object.metadata) ? object.metadata : {};
}

function addLabel(random: Random, object: JsonObject): string {
  const field = random.pick(['labels', 'annotations']);
  const metadata = metadataOf(object);
  const entries = isObject(metadata[field]) ? metadata[field] : {};
  const key = random.pick(['team', 'example.com/tier', 'version']);
  metadata[field] = { ...entries, [key]: random.pick(['blue', '1.0', 'true', '']) };
  return `/metadata/${field}/${key} set`;
}

/** Another key in a map of anything: labels of a template, data, limits. */
function addEntry(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => isObject(read(each)) && each.type.map?.fields.size === 0);
  const value = spot === undefined ? undefined : read(spot);
  if (spot === undefined || !isObject(value)) return undefined;
  const [copied] = Object.values(value);
  value[`added-${random.integer(3)}`] = structuredClone(copied ?? 'x');
  return `${spot.path}: an entry added`;
}

const OFTEN_EMPTY: Readonly<Record<string, Json>> = {
  labels: {},
  annotations: {},
  securityContext: {},
  resources: {},
  nodeSelector: {},
  affinity: {},
  matchLabels: {},
  limits: {},
  requests: {},
  data: {},
  tolerations: [],
  env: [],
  envFrom: [],
  args: [],
  volumes: [],
  volumeMounts: [],
  imagePullSecrets: [],
  initContainers: [],
  finalizers: [],
  tools: [],
  secrets: [],
};

function emptyContainer(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const key = random.pick(Object.keys(OFTEN_EMPTY));
  return declare(random, object, type, key, structuredClone(OFTEN_EMPTY[key] ?? null));
}

/** Sets a declared field that is not there yet, somewhere it may be. */
function declare(random: Random, object: JsonObject, type: MergeType, key: string, value: Json): string | undefined {
  const spot = pickSpot(random, object, type, (each) => {
    const map = read(each);
    return isObject(map) && map[key] === undefined && each.type.map?.fields.has(key) === true;
  });
  const map = spot === undefined ? undefined : read(spot);
  if (spot === undefined || !isObject(map)) return undefined;
  map[key] = value;
  return `${spot.path}/${key} = ${JSON.stringify(value)}`;
}

/** `hostNetwork: false`, `minReadySeconds: 0`, `value: ""`: what is said although it goes without saying. */
function falseOrZero(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => isObject(read(each)) && (each.type.map?.fields.size ?? 0) > 0);
  if (spot === undefined) return undefined;
  const fields = [...(spot.type.map?.fields ?? [])].filter(([, field]) => field.type().scalar?.value === 'boolean');
  const named = ['minReadySeconds', 'prefix', 'subPath', 'hostPort', 'replicas', 'value', 'initialDelaySeconds'];
  const key = random.pick([...fields.map(([name]) => name), ...named]);
  const field = spot.type.map?.fields.get(key);
  if (field === undefined || (read(spot) as JsonObject)[key] !== undefined) return undefined;
  const { value } = field.type().scalar ?? {};
  const zero = value === 'boolean' ? false : value === 'number' ? 0 : '';
  (read(spot) as JsonObject)[key] = zero;
  return `${spot.path}/${key} = ${JSON.stringify(zero)}`;
}

const INT_OR_STRING = /\.IntOrString$/;

function intOrString(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => INT_OR_STRING.test(each.type.name ?? ''));
  if (spot === undefined) return undefined;
  const value = read(spot);
  write(
    spot,
    typeof value === 'number' ? random.pick([String(value), `${value}%`, value + 1]) : random.pick([1, 8080]),
  );
  return `${spot.path} of another type`;
}

/** `field:` with nothing behind it. */
function addNull(random: Random, object: JsonObject, type: MergeType): string | undefined {
  const spot = pickSpot(random, object, type, (each) => isObject(read(each)) && (each.type.map?.fields.size ?? 0) > 0);
  const map = spot === undefined ? undefined : read(spot);
  if (spot === undefined || !isObject(map)) return undefined;
  const absent = [...(spot.type.map?.fields.keys() ?? [])].filter((key) => map[key] === undefined);
  if (absent.length === 0) return undefined;
  const key = random.pick(absent);
  map[key] = null;
  return `${spot.path}/${key} = null`;
}

function emptyMetadata(random: Random, object: JsonObject): string | undefined {
  const field = random.pick(['labels', 'annotations', 'creationTimestamp', 'status']);
  if (field === 'status') object.status = {};
  else if (field === 'creationTimestamp') metadataOf(object)[field] = null;
  else if (metadataOf(object)[field] === undefined) metadataOf(object)[field] = {};
  else return undefined;
  return `${field}: nothing in it`;
}

/** A value of a Secret moves from `data` to `stringData`, or back. */
function dataOrStringData(random: Random, object: JsonObject): string | undefined {
  if (object.kind !== 'Secret') return undefined;
  const [data, plain] = [object.data, object.stringData].map((map) => (isObject(map) ? { ...map } : {}));
  const keys = Object.keys({ ...data, ...plain });
  if (keys.length === 0 || data === undefined || plain === undefined) return undefined;
  const key = random.pick(keys);
  const text = plain[key];
  if (typeof text === 'string') {
    data[key] = Buffer.from(text).toString('base64');
    delete plain[key];
  } else {
    const decoded = Buffer.from(String(data[key]), 'base64').toString();
    if (decoded.includes('\ufffd')) return undefined;
    plain[key] = decoded;
    delete data[key];
  }
  object.data = data;
  object.stringData = plain;
  return `${key} between data and stringData`;
}

/** Something that the server has filled in is written out. */
function spellDefault(random: Random, object: JsonObject, type: MergeType, live?: KubeObject): string | undefined {
  if (live === undefined) return undefined;
  const missing: Spot[] = [];
  collectMissing(missing, object, live as JsonObject, type, '');
  if (missing.length === 0) return undefined;
  const { parent, key, path } = random.pick(missing);
  (parent as JsonObject)[key] = structuredClone(at(live as JsonObject, path)) ?? null;
  return `${path} written out`;
}

/** Where the living object has more; lists are entered by position while both are as long. */
function collectMissing(found: Spot[], mine: Json, live: Json, type: MergeType, path: string): void {
  if (Array.isArray(mine) && Array.isArray(live) && type.list !== undefined && mine.length === live.length) {
    const item = type.list.item();
    for (const [index, child] of mine.entries())
      collectMissing(found, child, live[index] ?? null, item, `${path}/${index}`);
  }
  if (!isObject(mine) || !isObject(live) || type.map === undefined) return;
  for (const [key, child] of Object.entries(live)) {
    const below = keyType(type.map, key);
    const inside = `${path}/${key.replaceAll('/', '~1')}`;
    if (below === undefined || child === undefined || inside === '/status') continue;
    if (mine[key] !== undefined) collectMissing(found, mine[key] ?? null, child, below, inside);
    else if (!inside.startsWith('/metadata/')) found.push({ parent: mine, key, type: below, path: inside });
  }
}

function at(object: JsonObject, path: string): Json {
  const tokens = path.split('/').slice(1);
  let value: Json = object;
  for (const token of tokens) value = (value as JsonObject)[token.replaceAll('~1', '/')] ?? null;
  return value;
}

function reorderKeys(_random: Random, object: JsonObject): string {
  const spec = object.spec;
  if (isObject(spec)) object.spec = Object.fromEntries(Object.entries(spec).reverse());
  return 'keys in another order';
}

// What another manager does to a field: sets it to another value, takes it away, adds something in it. Each is a number of
// attempts, JSON Patch operations (RFC 6902), of which the first counts that the server takes and that changes something.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Target } from './targets.ts';

/** `value`: what stands there on the server. */
type Hand = (target: Target, value: Json | undefined) => readonly JsonObject[];

export type Deed = 'changed' | 'removed' | 'added';

export const HANDS: Readonly<Record<Deed, Hand>> = { changed: change, removed: remove, added: add };

/** Fields alone: what a map or a list has in it is changed where it stands. */
function change({ pointer: path, type, values }: Target, value: Json | undefined): readonly JsonObject[] {
  if (isContainer(value) || values.every(isContainer)) return [];
  const op = value === undefined ? 'add' : 'replace';
  return [...othersThan(value, type.scalar?.spelling), ...values]
    .filter((other) => !isContainer(other) && other !== value)
    .map((other) => ({ op, path, value: other }));
}

function remove({ pointer: path }: Target, value: Json | undefined): readonly JsonObject[] {
  return value === undefined ? [] : [{ op: 'remove', path }];
}

/** Another item, another entry, or a field that no manager has set. */
function add({ pointer, type, values, declared }: Target, value: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) {
    const same = type.list?.merge === 'atomic' ? value : [];
    return [...value.flatMap(itemsLike), ...same].map((item) => addition(pointer, '-', item));
  }
  if (!isObject(value)) return [];
  const { fields, other } = type.map ?? {};
  const [entry] = Object.values(value);
  if (other !== undefined && fields?.size === 0)
    return itemsLike(entry ?? 'x').map((each) => addition(pointer, 'added', each));
  const isFree = (key: string) => value[key] === undefined && !(isObject(declared) && key in declared);
  const elsewhere = values.filter(isObject).flatMap((each) => Object.entries(each));
  const known = elsewhere.flatMap(([key, each]) =>
    isFree(key) && each !== undefined ? [addition(pointer, key, each)] : [],
  );
  const unset = [...(fields ?? [])].flatMap(([key, field]) => {
    const { scalar } = field.type();
    if (!isFree(key) || scalar === undefined) return [];
    const ofType = { boolean: [true], number: [1, 3], string: ['added'], any: [1, 'added'] }[scalar.value];
    return ofType.map((each) => addition(pointer, key, each));
  });
  return [...known, ...unset];
}

function addition(pointer: string, token: string, value: Json): JsonObject {
  return { op: 'add', path: `${pointer}/${pointerToken(token)}`, value };
}

function isContainer(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/** Best first: what a server is likely to take. */
function othersThan(value: Json | undefined, spelling?: string): readonly Json[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1, value * 2, 1];
  const text = typeof value === 'string' ? value : '';
  if (spelling === 'base64') return [Buffer.from('another').toString('base64')];
  if (spelling === 'quantity') return ['3', '3Gi', '1'];
  const digit = /\d(?=\D*$)/.exec(text);
  const bumped =
    digit === null ? [] : [text.slice(0, digit.index) + ((Number(digit[0]) % 9) + 1) + text.slice(digit.index + 1)];
  return [`${text}x`, ...bumped, `x${text}`, ...(CHOICES.find((choices) => choices.includes(text)) ?? [])];
}

/** What fields of built-in kinds may be, and no schema says. */
const CHOICES: readonly (readonly string[])[] = [
  ['ClientIP', 'None'],
  ['TCP', 'UDP', 'SCTP'],
  ['Ingress', 'Egress'],
  ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany'],
  ['Always', 'Never', 'OnFailure', 'IfNotPresent'],
  ['Allow', 'Forbid', 'Replace'],
  ['Exact', 'Prefix', 'ImplementationSpecific'],
  ['RollingUpdate', 'Recreate', 'OnDelete'],
  ['OrderedReady', 'Parallel'],
  ['Retain', 'Delete'],
  ['SingleStack', 'PreferDualStack'],
  ['Cluster', 'Local'],
  ['ClusterIP', 'NodePort', 'LoadBalancer'],
];

const NAMES = ['name', 'containerPort', 'port', 'key', 'ip', 'host', 'mountPath', 'path', 'topologyKey', 'id', 'type'];

/** Copies under another name, so that they stand beside. */
function itemsLike(item: Json): readonly Json[] {
  if (!isObject(item)) return othersThan(item);
  return [0, 1].map((which) => {
    const renamed = Object.entries(item).map(([key, value]) => {
      if (!NAMES.includes(key) || value === undefined || isContainer(value)) return [key, value];
      return [key, typeof value === 'number' ? value + 50 : (othersThan(value)[which] ?? `x${value}`)];
    });
    return Object.fromEntries(renamed);
  });
}

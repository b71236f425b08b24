// Parses managedFields into a field set per manager, and serialises the sets in the order that the API server uses.

import { isObject } from '#std/json.ts';
import type { ManagedFieldsEntry } from '../../object.ts';
import { compareTexts } from '../element.ts';
import { type FieldSet, union } from '../fieldset.ts';
import { formatFields, parseFields } from '../fieldsv1.ts';

/**
 * Identity of a manager. The apiVersion is part of the identity only for updates: an apply replaces the entry of an
 * older version.
 */
export interface ManagerName {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

export interface Manager extends ManagerName {
  readonly set: FieldSet;
  /** RFC 3339. Absent if the server recorded no time. */
  readonly time?: string;
}

export type Managers = ReadonlyMap<string, Manager>;

export function keyOfManager({ manager, operation, apiVersion, subresource = '' }: ManagerName): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Returns undefined if an entry does not have the form that a server writes. */
export function parseManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const { manager, operation, apiVersion, subresource, time } = entry;
    const fields = entry.fieldsV1 ?? {};
    const set = isObject(fields) ? parseFields(fields) : undefined;
    const known = operation === 'Apply' || operation === 'Update';
    if (set === undefined || !known || !apiVersion || entry.fieldsType !== 'FieldsV1') return undefined;
    const parsed = {
      manager,
      operation,
      apiVersion,
      set,
      ...(subresource ? { subresource } : {}),
      ...(time === undefined || time === null ? {} : { time }),
    };
    managers.set(keyOfManager(parsed), parsed);
  }
  return managers;
}

/** Sorts applies before updates, and each group by time, name, apiVersion and subresource. */
export function formatManagers(managers: Managers): ManagedFieldsEntry[] {
  return [...managers.values()].sort(compareManagers).map(({ set, time, subresource, ...name }) => ({
    apiVersion: name.apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: formatFields(set),
    manager: name.manager,
    operation: name.operation,
    ...(subresource === undefined ? {} : { subresource }),
    ...(time === undefined ? {} : { time }),
  }));
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareTexts(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource ?? '', b.subresource ?? '')
  );
}

function seconds({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

const MAX_UPDATERS = 10;
const ANCIENT = 'ancient-changes';

/** Limits the number of updaters. The oldest updaters of each apiVersion share one entry, `ancient-changes`. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  let surplus = updaters.length - MAX_UPDATERS;
  if (surplus <= 0) return managers;
  const out = new Map(managers);
  const oldest = new Map<string, string>();
  for (const [key, updater] of updaters.sort(compareAges)) {
    if (surplus <= 0) break;
    const bucket: ManagerName = { manager: ANCIENT, operation: 'Update', apiVersion: updater.apiVersion };
    const bucketKey = keyOfManager(bucket);
    if (key === bucketKey) continue;
    const first = out.has(bucketKey) ? bucketKey : oldest.get(updater.apiVersion);
    const older = first === undefined ? undefined : out.get(first);
    if (first === undefined || older === undefined) {
      oldest.set(updater.apiVersion, key);
      continue;
    }
    out.delete(first);
    out.delete(key);
    const { time } = updater;
    const set = union(updater.set, older.set);
    out.set(bucketKey, { ...bucket, set, ...(time === undefined ? {} : { time }) });
    surplus -= 1;
  }
  return out;
}

function compareAges([a, left]: [string, Manager], [b, right]: [string, Manager]): number {
  return seconds(left) - seconds(right) || compareTexts(a, b);
}

// What a proxy leaves in the cluster about definitions that are not the reviewed ones: the content of a ConfigMap, which the
// reconciler reads for the status of the server and `skep lock` for its differences.

import { gunzipSync, gzipSync } from 'node:zlib';
import { isObject, objectsIn, parseJson, textsIn } from '#std/json.ts';
import { definitionDigest } from './digest.ts';
import type { HeldLock } from './held.ts';
import { LOCKED_LIST_NAMES, type LockedList } from './schema.ts';

export interface LockReport {
  /** Of the lock that it is about. */
  readonly lock: string;
  /** RFC 3339. */
  readonly at: string;
  readonly drifts: readonly ReportedDrift[];
}

export interface ReportedDrift {
  readonly list: LockedList;
  readonly name: string;
  readonly what: 'differs' | 'new' | 'unreadable' | 'missing';
  /** JSON, as the server sent it; absent if it is missing, or if all of them are too large. */
  readonly definition?: string;
}

/** Keys of the ConfigMap. */
const REPORT_KEYS = { report: 'report.json', definitions: 'definitions' } as const;

/** An object of the cluster holds 1 MiB. */
const DEFINITIONS_MAX = 700_000;
const DRIFTS_MAX = 1000;

/** Tells for which lock a report was made. */
export function lockDigest({ report_to: _place, ...lock }: HeldLock): string {
  return definitionDigest(lock);
}

export function reportName(server: string): string {
  return `${server}-tools-report`;
}

/** Data of the ConfigMap. Definitions are packed: a thousand tools fit. */
export function formatLockReport({ lock, at, drifts }: LockReport): Record<string, string> {
  const shown = drifts.slice(0, DRIFTS_MAX);
  const packed = gzipSync(JSON.stringify(shown.map(({ definition = '' }) => definition))).toString('base64');
  const report = { version: 1, lock, at, drifts: shown.map(({ list, name, what }) => ({ list, name, what })) };
  return {
    [REPORT_KEYS.report]: JSON.stringify(report),
    ...(packed.length > DEFINITIONS_MAX ? {} : { [REPORT_KEYS.definitions]: packed }),
  };
}

/** Undefined if the data is not a report. */
export function readLockReport(data: unknown): LockReport | undefined {
  const text = isObject(data) ? data[REPORT_KEYS.report] : undefined;
  const report = typeof text === 'string' ? parseJson(text) : undefined;
  if (!isObject(data) || !isObject(report) || report.version !== 1) return undefined;
  const { lock, at } = report;
  if (typeof lock !== 'string' || typeof at !== 'string') return undefined;
  const definitions = unpackDefinitions(data[REPORT_KEYS.definitions]);
  const drifts = objectsIn(report.drifts).flatMap(({ list, name, what }, index): readonly ReportedDrift[] => {
    const known = LOCKED_LIST_NAMES.find((each) => each === list);
    const kind = WHAT.find((each) => each === what);
    if (known === undefined || kind === undefined || typeof name !== 'string') return [];
    const definition = definitions[index];
    return [{ list: known, name, what: kind, ...(definition ? { definition } : {}) }];
  });
  return { lock, at, drifts };
}

const WHAT = ['differs', 'new', 'unreadable', 'missing'] as const;
const UNPACKED_MAX = 64 * 1024 * 1024;

function unpackDefinitions(packed: unknown): readonly string[] {
  if (typeof packed !== 'string') return [];
  try {
    const text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: UNPACKED_MAX }).toString();
    return textsIn(parseJson(text));
  } catch (error) {
    // Somebody else wrote it: the names are of use without the texts.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

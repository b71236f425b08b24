// Formats and reads the report of definitions that differ from the reviewed definitions. A proxy writes the report into
// a ConfigMap. The reconciler reads it for the server's status, and `skep lock` shows the differences. The ConfigMap of
// a virtual server contains one report for each member with a lock.

import { gunzipSync, gzipSync } from 'node:zlib';
import { isObject, objectsIn, parseJson, textsIn } from '#std/json.ts';
import { definitionDigest } from './digest.ts';
import type { HeldLock } from './held.ts';
import { LOCKED_LIST_NAMES, type LockedList } from './schema.ts';

export interface LockReport {
  /** Digest of the lock with which the definitions were compared. */
  readonly lock: string;
  /** RFC 3339. */
  readonly at: string;
  readonly drifts: readonly ReportedDrift[];
  /** Number of differences that did not fit into the report. Not set if all fit. */
  readonly omitted?: number;
}

export interface ReportedDrift {
  readonly list: LockedList;
  readonly name: string;
  readonly what: 'differs' | 'new' | 'unreadable' | 'missing';
  /** JSON that the server sent. Not set if the definition is missing, or if all texts together are too large. */
  readonly definition?: string;
}

/** Returns keys of the ConfigMap. `member`: member of a virtual server. */
function reportKeys(member: string | undefined) {
  const prefix = member === undefined ? '' : `${member}.`;
  return { report: `${prefix}report.json`, definitions: `${prefix}definitions` };
}

/** Maximum number of bytes of names, and of compressed texts. An object in a cluster can have 1 MiB. */
const [NAMES_MAX, PACKED_MAX] = [200_000, 700_000];
/** Maximum number of characters to compress, so that long texts do not delay the proxy. */
const TEXTS_MAX = 4_000_000;

/** Returns the digest by which a report identifies its lock. */
export function lockDigest({ report_to: _place, parts: _parts, ...lock }: HeldLock): string {
  return definitionDigest(lock);
}

export function reportName(server: string): string {
  return `${server}-tools-report`;
}

export function virtualReportName(server: string): string {
  return reportName(`${server}-vmcp`);
}

/**
 * Returns the data of the ConfigMap, with as many differences as fit. Texts are compressed, so that texts of a thousand
 * tools fit. `member`: member of a virtual server. `members`: number of members that share the ConfigMap.
 */
export function formatLockReport(
  { lock, at, drifts }: LockReport,
  { member, members = 1 }: { readonly member?: string; readonly members?: number } = {},
): Record<string, string> {
  const shown = firstThatFit(drifts, NAMES_MAX / members);
  const keys = reportKeys(member);
  const omitted = drifts.length - shown.length;
  const report = { version: 1, lock, at, drifts: shown.map(namesOf), ...(omitted === 0 ? {} : { omitted }) };
  const texts = shown.map(({ definition = '' }) => definition);
  const isShort = texts.reduce((sum, { length }) => sum + length, 0) <= TEXTS_MAX;
  const packed = isShort ? gzipSync(JSON.stringify(texts)).toString('base64') : undefined;
  return {
    [keys.report]: JSON.stringify(report),
    ...(packed === undefined || packed.length > PACKED_MAX / members ? {} : { [keys.definitions]: packed }),
  };
}

/** Returns whether the ConfigMap's data contains reports about the same locks as `written`. */
export function hasSameLocks(written: Readonly<Record<string, string>>, data: unknown): boolean {
  const lockAt = (key: string, of: unknown) => {
    const text = isObject(of) ? of[key] : undefined;
    const report = typeof text === 'string' ? parseJson(text) : undefined;
    return isObject(report) && typeof report.lock === 'string' ? report.lock : undefined;
  };
  const keys = Object.keys(written).filter((key) => key.endsWith(reportKeys(undefined).report));
  return keys.every((key) => lockAt(key, written) === lockAt(key, data));
}

function namesOf({ list, name, what }: ReportedDrift) {
  return { list, name, what };
}

function firstThatFit(drifts: readonly ReportedDrift[], bytesMax: number): readonly ReportedDrift[] {
  let bytes = 0;
  const end = drifts.findIndex((drift) => {
    bytes += Buffer.byteLength(JSON.stringify(namesOf(drift))) + 1;
    return bytes > bytesMax;
  });
  return end < 0 ? drifts : drifts.slice(0, end);
}

/** Returns the report without texts; undefined if the data contains no report. `member`: member of a virtual server. */
export function readLockReport(data: unknown, member?: string): LockReport | undefined {
  return readReport(data, member, () => []);
}

/**
 * Returns the report with its texts; undefined if the data contains no report. `member`: member of a virtual server.
 */
export function readLockTexts(data: unknown, member?: string): LockReport | undefined {
  return readReport(data, member, unpackDefinitions);
}

function readReport(
  data: unknown,
  member: string | undefined,
  unpack: (packed: unknown) => readonly string[],
): LockReport | undefined {
  const keys = reportKeys(member);
  const text = isObject(data) ? data[keys.report] : undefined;
  const report = typeof text === 'string' ? parseJson(text) : undefined;
  if (!isObject(data) || !isObject(report) || report.version !== 1) return undefined;
  const { lock, at } = report;
  if (typeof lock !== 'string' || typeof at !== 'string') return undefined;
  const definitions = unpack(data[keys.definitions]);
  const reported = objectsIn(report.drifts);
  const drifts = reported.flatMap(({ list, name, what }, index): readonly ReportedDrift[] => {
    const known = LOCKED_LIST_NAMES.find((each) => each === list);
    const kind = WHAT.find((each) => each === what);
    if (known === undefined || kind === undefined || typeof name !== 'string') return [];
    const definition = definitions[index];
    return [{ list: known, name, what: kind, ...(definition ? { definition } : {}) }];
  });
  // Differences that cannot be read are added to the number of omitted differences.
  const omitted = reported.length - drifts.length + (typeof report.omitted === 'number' ? report.omitted : 0);
  return { lock, at, drifts, ...(omitted > 0 ? { omitted } : {}) };
}

const WHAT = ['differs', 'new', 'unreadable', 'missing'] as const;
const UNPACKED_MAX = 64 * 1024 * 1024;

function unpackDefinitions(packed: unknown): readonly string[] {
  if (typeof packed !== 'string') return [];
  try {
    const text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: UNPACKED_MAX }).toString();
    return textsIn(parseJson(text));
  } catch (error) {
    // Only data of another program cannot be decompressed. The names in the report are still useful.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

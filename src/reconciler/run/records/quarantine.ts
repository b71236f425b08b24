// Stores the commits that a rollback excludes, in ConfigMaps of the home namespace. While the ref of a source names an
// excluded commit, the source stays at the commit of the rollback. Ancestors of an excluded commit are excluded too.

import { Failure } from '#std/failure.ts';
import { isObject, parseJson } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { recordId } from './home-record.ts';
import { type LongRecord, type RecordWriter, readLongRecord, storeLongRecord } from './long-record.ts';

export interface Quarantined {
  readonly source: string;
  /** Commit that is applied instead of `bad`. */
  readonly good: string;
  /** Commit that the ref named at the rollback. */
  readonly bad: string;
  /** Known ancestors of `bad`. They are excluded like `bad`. */
  readonly older: readonly string[];
  /** Id of the run to whose commits the rollback returned. */
  readonly run: string;
  /** Time of the rollback, in RFC 3339. */
  readonly since: string;
}

export interface Quarantine {
  /** Entries by name of the source. */
  readonly entries: ReadonlyMap<string, Quarantined>;
  /** Record as it was read. */
  readonly stored: LongRecord;
}

const PURPOSE = 'quarantine';

export async function readQuarantine(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Quarantine> {
  const stored = await readLongRecord(cluster, home, PURPOSE);
  const entries = [...stored.texts].map(([source, text]) => parseEntry(home, source, text));
  return { entries: new Map(entries.map((entry) => [entry.source, entry])), stored };
}

/** Returns true if the rollback excludes the commit. */
export function isQuarantined({ bad, older }: Quarantined, commit: string): boolean {
  return commit === bad || older.includes(commit);
}

/** Replaces all entries. Throws Failure `cluster-conflict` if another writer was faster. */
export async function storeQuarantine(
  cluster: RecordWriter,
  home: InstanceName,
  { stored }: Quarantine,
  entries: readonly Quarantined[],
): Promise<void> {
  const texts = new Map(entries.map(({ source, ...entry }) => [source, JSON.stringify(entry)]));
  if (stored.objects[0] === undefined && entries.length === 0) return;
  await storeLongRecord(cluster, home, PURPOSE, stored, texts);
}

/**
 * Removes the entries of sources whose refs name a newer commit. If another writer changed the record in the meantime,
 * nothing is removed and the next run decides again. Returns the failures.
 */
export async function release(
  cluster: RecordWriter,
  home: InstanceName,
  quarantine: Quarantine,
  sources: readonly string[],
): Promise<readonly Failure[]> {
  if (sources.length === 0) return [];
  const left = [...quarantine.entries.values()].filter(({ source }) => !sources.includes(source));
  try {
    await storeQuarantine(cluster, home, quarantine, left);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'cluster-conflict' || error.code === 'cluster-not-found' ? [] : [error];
  }
}

/**
 * Removes the entries of the sources in `only` or, if `only` is empty, of all sources. Also removes entries that cannot
 * be parsed. Returns the names of the sources.
 */
export async function clearQuarantine(
  cluster: RecordWriter,
  home: InstanceName,
  only: readonly string[],
): Promise<readonly string[]> {
  const stored = await readLongRecord(cluster, home, PURPOSE);
  const cleared = [...stored.texts.keys()].filter((source) => only.length === 0 || only.includes(source));
  const left = new Map([...stored.texts].filter(([source]) => !cleared.includes(source)));
  if (cleared.length > 0) await storeLongRecord(cluster, home, PURPOSE, stored, left);
  return cleared;
}

/** Parses an entry. Throws Failure `quarantine-unreadable`: no run may start while the excluded commits are unknown. */
function parseEntry(home: InstanceName, source: string, text: string): Quarantined {
  const value = parseJson(text);
  if (isObject(value)) {
    const { good, bad, older, run, since } = value;
    const texts = [good, bad, run, since].every((each) => typeof each === 'string');
    if (texts && Array.isArray(older))
      return { source, good: `${good}`, bad: `${bad}`, older: older.map(String), run: `${run}`, since: `${since}` };
  }
  const message = `${formatId(recordId(home, PURPOSE))} cannot be read at "${source}": skep rollback --clear removes it`;
  throw new Failure('quarantine-unreadable', message);
}

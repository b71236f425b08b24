// Stores commits that a rollback took out of use, in ConfigMaps of the home namespace. A source whose ref names such a
// commit, or an ancestor of it, stays at the commit that it was rolled back to.

import { Failure } from '#std/failure.ts';
import { isObject, parseJson } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { recordId } from './home-record.ts';
import { type LongRecord, type RecordWriter, readLongRecord, storeLongRecord } from './long-record.ts';

export interface Quarantined {
  readonly source: string;
  /** Commit that the source stays at. */
  readonly good: string;
  /** Commit that the ref named at the rollback. */
  readonly bad: string;
  /** Known ancestors of `bad`, which do not count as newer commits. */
  readonly older: readonly string[];
  /** Run to whose commits the rollback returned. */
  readonly run: string;
  /** RFC 3339. */
  readonly since: string;
}

export interface Quarantine {
  /** Entries by name of the source. */
  readonly entries: ReadonlyMap<string, Quarantined>;
  /** Stored record as it was read. */
  readonly stored: LongRecord;
}

const PURPOSE = 'quarantine';

export async function readQuarantine(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Quarantine> {
  const stored = await readLongRecord(cluster, home, PURPOSE);
  const entries = [...stored.texts].map(([source, text]) => parseEntry(home, source, text));
  return { entries: new Map(entries.map((entry) => [entry.source, entry])), stored };
}

/** Returns true if the commit was taken out of use, or is known to be older. */
export function isQuarantined({ bad, older }: Quarantined, commit: string): boolean {
  return commit === bad || older.includes(commit);
}

/** Replaces the entries that were read. Throws Failure `cluster-conflict` if another writer was faster. */
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
 * Ends the quarantine of sources whose refs name a newer commit. If a person rolls back at the same moment, the new
 * quarantine stays, and the next run decides about it.
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
 * Clears the quarantine of all sources, or of the named sources, and removes entries that cannot be read. Returns the
 * sources that follow their refs again.
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

/** Parses an entry. If it cannot be read, the bad commit is unknown: then no run may start. */
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

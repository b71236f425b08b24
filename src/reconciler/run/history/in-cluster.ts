// Stores the history in a ConfigMap of the home namespace, for instances without a database. If the ConfigMap becomes
// too large, the oldest runs are removed.

import { gunzipSync, gzipSync } from 'node:zlib';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from '../records/home-record.ts';
import type { HistoryStore, RunRecord } from './ports.ts';

export interface HistoryHome extends InstanceName {
  /** Maximum number of runs in the history. */
  readonly limit: number;
}

type Content = Record<'data' | 'binaryData', Record<string, string>>;

const PLAIN = 'runs.json';
const PACKED = 'runs.json.gz';
/**
 * Maximum characters of an uncompressed history. `kubectl get -o yaml` shows such a history as text. A larger history
 * is compressed.
 */
const PLAIN_MAX = 64 * 1024;
/**
 * Maximum bytes of a compressed history: half of a ConfigMap's limit, because each run that lists ConfigMaps reads the
 * history.
 */
const STORED_MAX = 512 * 1024;
const UNPACKED_MAX = 64 * 1024 * 1024;
const TRIES = 5;

export function openClusterHistory(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: HistoryHome,
): HistoryStore {
  const id = recordId(home, 'history');
  async function change(next: (records: readonly RunRecord[]) => readonly RunRecord[]): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const stored = await readRecord(cluster, home, 'history');
      try {
        await storeRecord(cluster, id, stored, contentOf(next(recordsOf(stored))));
        return;
      } catch (error) {
        // Another run has written in the meantime. The history is read again, so that the record of that run is not
        // lost.
        if (!(error instanceof Failure) || error.code !== 'cluster-conflict' || left === 0) throw error;
      }
    }
  }

  return {
    async latest(count) {
      return recordsOf(await readRecord(cluster, home, 'history'))
        .slice(-count)
        .reverse();
    },
    append: (record) => change((records) => [...records, record].slice(-home.limit)),
    replace: (record) => change((records) => records.map((each) => (each.id === record.id ? record : each))),
  };
}

/**
 * Removes the older half of the runs until the history is small enough. A single run that is too large loses its lists.
 */
function contentOf(records: readonly RunRecord[]): Content {
  const text = JSON.stringify(records);
  if (text.length <= PLAIN_MAX) return { data: { [PLAIN]: text }, binaryData: {} };
  const packed = gzipSync(text);
  if (packed.length <= STORED_MAX) return { data: {}, binaryData: { [PACKED]: packed.toString('base64') } };
  const [newest] = records.slice(-1);
  if (records.length === 1 && newest !== undefined) return contentOf([withoutLists(newest)]);
  return contentOf(records.slice(Math.ceil(records.length / 2)));
}

function withoutLists(record: RunRecord): RunRecord {
  const { outcomes, held, problems, approvals, notReady = [], drifted = [] } = record;
  const dropped = {
    ...{ outcomes: outcomes.length, held: held.length, problems: problems.length },
    ...(notReady.length === 0 ? {} : { notReady: notReady.length }),
    ...(drifted.length === 0 ? {} : { drifted: drifted.length }),
  };
  const omitted = Object.fromEntries(
    Object.entries(dropped).map(([name, count]) => [name, count + (record.omitted[name] ?? 0)]),
  );
  return {
    ...record,
    outcomes: [],
    held: [],
    problems: [],
    notReady: undefined,
    drifted: undefined,
    approvals: approvals?.map((each) => ({ ...each, deletions: [] })),
    omitted: { ...record.omitted, ...omitted },
  };
}

/** Returns the runs; empty if the content cannot be parsed. */
function recordsOf(stored: KubeObject | undefined): readonly RunRecord[] {
  const { [PLAIN]: plain } = isObject(stored?.data) ? stored.data : {};
  const { [PACKED]: packed } = isObject(stored?.binaryData) ? stored.binaryData : {};
  try {
    const text =
      typeof packed === 'string'
        ? gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: UNPACKED_MAX }).toString('utf8')
        : String(plain ?? '[]');
    const records: unknown = JSON.parse(text);
    return Array.isArray(records) ? records.filter(isRecord) : [];
  } catch {
    return [];
  }
}

function isRecord(value: unknown): value is RunRecord {
  return isObject(value) && typeof value.id === 'string' && Array.isArray(value.outcomes) && isObject(value.commits);
}

// Stores the last notice of each channel in a ConfigMap of the home namespace, so that a restarted process sends no
// notice twice.

import { isObject, type Json } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from '../records/home-record.ts';
import type { LastNotice, Memory, NoticeState } from './ports.ts';
import { readUnsent } from './unsent.ts';

const PURPOSE = 'notified';

export function openClusterMemory(cluster: Pick<Cluster, 'get' | 'create' | 'replace'>, home: InstanceName): Memory {
  return {
    async read() {
      const data = (await readRecord(cluster, home, PURPOSE))?.data;
      const entries = Object.entries(isObject(data) ? data : {});
      return new Map(entries.flatMap(([key, text]) => noticeOf(key, String(text))));
    },
    async write(reported) {
      const data = Object.fromEntries([...reported].map(([key, each]) => [key, JSON.stringify(each)]));
      await storeRecord(cluster, recordId(home, PURPOSE), await readRecord(cluster, home, PURPOSE), { data });
    },
  };
}

/** Returns the entry as a list. Empty if the entry cannot be parsed: the channel is then notified again. */
function noticeOf(key: string, text: string): [string, LastNotice][] {
  try {
    const value: Json = JSON.parse(text);
    if (!isObject(value) || typeof value.about !== 'string' || !Array.isArray(value.at)) return [];
    const { state, about, at, times } = value;
    const unsent = readUnsent(value.unsent);
    if (state === undefined ? unsent === undefined : !isState(state)) return [];
    const last = { about, at: at.map(String), times: Number.isInteger(times) ? Number(times) : at.length };
    return [[key, { ...last, ...(isState(state) && { state }), ...(unsent && { unsent }) }]];
  } catch {
    return [];
  }
}

function isState(state: Json | undefined): state is NoticeState {
  return state === 'pending' || state === 'success' || state === 'failure';
}

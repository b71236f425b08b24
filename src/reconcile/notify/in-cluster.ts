// What channels were told last, in a ConfigMap of the home namespace, so that no restart tells it again. Knows nothing
// about who is told.

import { isObject } from '../../std/json.ts';
import { type Home, recordId, storeRecord } from '../home-record.ts';
import type { Cluster } from '../ports.ts';
import type { Memory, Told } from './ports.ts';

export function openClusterMemory(cluster: Pick<Cluster, 'get' | 'create' | 'replace'>, home: Home): Memory {
  const id = recordId(home, 'notified');
  return {
    async read() {
      const data = (await cluster.get(id))?.data;
      const entries = Object.entries(isObject(data) ? data : {});
      return new Map(entries.flatMap(([key, text]) => toldOf(key, String(text))));
    },
    async write(told) {
      const data = Object.fromEntries([...told].map(([key, each]) => [key, JSON.stringify(each)]));
      await storeRecord(cluster, id, await cluster.get(id), { data });
    },
  };
}

/** What a person has spoilt is told once more. */
function toldOf(key: string, text: string): [string, Told][] {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value.about !== 'string' || !Array.isArray(value.at)) return [];
    const { state, about, at } = value;
    if (state !== 'pending' && state !== 'success' && state !== 'failure') return [];
    return [[key, { state, about, at: at.map(String) }]];
  } catch {
    return [];
  }
}

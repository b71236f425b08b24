// What channels were told last, in a ConfigMap of the home namespace, so that no restart tells it again. Knows nothing
// about who is told.

import { isObject } from '../../std/json.ts';
import type { ResourceId } from '../../std/problem.ts';
import { fieldManager } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import type { Memory, Told } from './ports.ts';

interface Home {
  readonly instance: string;
  readonly homeNamespace: string;
}

export function openClusterMemory(cluster: Pick<Cluster, 'get' | 'create' | 'replace'>, home: Home): Memory {
  const { instance, homeNamespace } = home;
  const name = `${fieldManager(instance)}-notified`;
  const id: ResourceId = { apiVersion: 'v1', kind: 'ConfigMap', namespace: homeNamespace, name };
  return {
    async read() {
      const data = (await cluster.get(id))?.data;
      const entries = Object.entries(isObject(data) ? data : {});
      return new Map(entries.flatMap(([key, text]) => toldOf(key, String(text))));
    },
    async write(told) {
      const data = Object.fromEntries([...told].map(([key, each]) => [key, JSON.stringify(each)]));
      const stored = await cluster.get(id);
      if (stored !== undefined) await cluster.replace({ ...stored, data });
      else
        await cluster.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace: homeNamespace },
          data,
        });
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

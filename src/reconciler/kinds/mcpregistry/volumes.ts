// The volumes that an MCPRegistry adds to the pod of its service: what is wrong with them, and what they name.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Finding, Reference } from '../kind.ts';
import { podPartFindings } from '../pods/pod-template.ts';
import type { Volumes } from './mounted-files.ts';

const CODE = 'invalid-pod-template';

/** `generated`: the pod without them. */
export function volumeFindings(
  { volumes = [], volumeMounts = [] }: Volumes,
  generated: JsonObject,
): readonly Finding[] {
  const { volumes: own, containers } = generated;
  const [container] = Array.isArray(containers) ? containers.filter(isObject) : [];
  return [
    ...podPartFindings([...volumes], ['spec', 'volumes'], '/spec/volumes'),
    ...podPartFindings([...volumeMounts], ['spec', 'containers', '', 'volumeMounts'], '/spec/volumeMounts'),
    ...taken(volumes, 'name', textsOf(own, 'name'), '/spec/volumes'),
    ...taken(volumeMounts, 'mountPath', textsOf(container?.volumeMounts, 'mountPath'), '/spec/volumeMounts'),
    ...volumeMounts.flatMap(({ name }, index): readonly Finding[] => {
      if (volumes.some((volume) => volume.name === name)) return [];
      return [fault(`/spec/volumeMounts/${index}`, `spec.volumes has no volume "${String(name ?? '')}"`)];
    }),
  ];
}

function textsOf(list: unknown, field: string): readonly string[] {
  return (Array.isArray(list) ? list.filter(isObject) : []).map((item) => String(item[field]));
}

/** An API server refuses two of a name, and our own must stay what they are. */
function taken(
  items: readonly JsonObject[],
  field: 'name' | 'mountPath',
  generated: readonly string[],
  pointer: string,
): readonly Finding[] {
  const texts = textsOf(items, field);
  return items.flatMap((item, index): readonly Finding[] => {
    const text = item[field];
    const at = `${pointer}/${index}`;
    if (typeof text !== 'string' || text === '') return [fault(at, `${field} is missing`)];
    const others = [...generated, ...texts.slice(0, index)];
    return others.includes(text) ? [fault(`${at}/${field}`, `${field} ${text} is taken: choose another`)] : [];
  });
}

function fault(pointer: string, message: string): Finding {
  return { code: CODE, severity: 'error', pointer, message };
}

/** Kubernetes starts no pod before they are there. */
export function volumeReferences({ volumes = [] }: Volumes): readonly Reference[] {
  return volumes.flatMap(({ secret, configMap, persistentVolumeClaim }, index) => [
    ...named('Secret', secret, 'secretName', `/spec/volumes/${index}/secret`),
    ...named('ConfigMap', configMap, 'name', `/spec/volumes/${index}/configMap`),
    ...named(
      'PersistentVolumeClaim',
      persistentVolumeClaim,
      'claimName',
      `/spec/volumes/${index}/persistentVolumeClaim`,
    ),
  ]);
}

function named(kind: string, source: unknown, field: string, pointer: string): readonly Reference[] {
  if (!isObject(source)) return [];
  const name = source[field];
  if (typeof name !== 'string') return [];
  return [{ pointer: `${pointer}/${field}`, kind, name, optional: source.optional === true ? 'allowed' : 'waited' }];
}

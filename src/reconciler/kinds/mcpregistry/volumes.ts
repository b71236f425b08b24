// Finds faults of the volumes that an author adds to a registry service's pod, and lists the objects that they name.

import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import type { Finding, Reference } from '../kind.ts';
import { podPartFindings } from '../pods/pod-template.ts';
import { isBelow, isSamePath, type Volumes } from './mounted-files.ts';

const CODE = 'invalid-pod-template';

/** `generated`: the pod without the author's volumes. */
export function volumeFindings(
  { volumes = [], volumeMounts = [] }: Volumes,
  generated: JsonObject,
): readonly Finding[] {
  const [container] = objectsIn(generated.containers);
  const own = { volumes: objectsIn(generated.volumes), mounts: objectsIn(container?.volumeMounts) };
  return [
    ...podPartFindings([...volumes], ['spec', 'volumes'], '/spec/volumes'),
    ...podPartFindings([...volumeMounts], ['spec', 'containers', '', 'volumeMounts'], '/spec/volumeMounts'),
    ...takenFindings(volumes, 'name', fieldTexts(own.volumes, 'name'), '/spec/volumes'),
    ...takenFindings(volumeMounts, 'mountPath', fieldTexts(own.mounts, 'mountPath'), '/spec/volumeMounts'),
    ...coveringFindings(volumeMounts, own.mounts),
    ...volumeMounts.flatMap(({ name }, index): readonly Finding[] => {
      const at = `/spec/volumeMounts/${index}`;
      if (name === undefined) return [volumeFault(at, 'name is missing')];
      // podPartFindings reports a name that is not a string.
      if (typeof name !== 'string' || volumes.some((volume) => volume.name === name)) return [];
      return [volumeFault(at, `spec.volumes has no volume "${name}"`)];
    }),
  ];
}

function fieldTexts(items: readonly JsonObject[], field: string): readonly string[] {
  return items.map((item) => String(item[field]));
}

/** Finds repeated names and paths. An API server refuses them, and the author must not replace generated volumes. */
function takenFindings(
  items: readonly JsonObject[],
  field: 'name' | 'mountPath',
  generated: readonly string[],
  pointer: string,
): readonly Finding[] {
  const texts = fieldTexts(items, field);
  return items.flatMap((item, index): readonly Finding[] => {
    const text = item[field];
    const at = `${pointer}/${index}`;
    if (typeof text !== 'string' || text === '') return [volumeFault(at, `${field} is missing`)];
    const others = [...generated, ...texts.slice(0, index)];
    return others.some((other) => isSame[field](other, text))
      ? [volumeFault(`${at}/${field}`, `${field} ${text} is taken: choose another`)]
      : [];
  });
}

const isSame = {
  name: (other: string, text: string) => other === text,
  mountPath: isSamePath,
};

/** Finds mounts inside a generated read-only mount: they would hide its files, such as the configuration. */
function coveringFindings(mounts: readonly JsonObject[], own: readonly JsonObject[]): readonly Finding[] {
  const read = own.filter(({ readOnly }) => readOnly === true).map(({ mountPath }) => String(mountPath));
  return mounts.flatMap(({ mountPath }, index): readonly Finding[] => {
    if (typeof mountPath !== 'string') return [];
    const outer = read.find((path) => isBelow(mountPath, path) && !isSamePath(path, mountPath));
    if (outer === undefined) return [];
    return [volumeFault(`/spec/volumeMounts/${index}/mountPath`, `${mountPath} is inside ${outer}: choose another`)];
  });
}

function volumeFault(pointer: string, message: string): Finding {
  return { code: CODE, severity: 'error', pointer, message };
}

/** Returns references to the named objects. Kubernetes starts no pod before these objects exist. */
export function volumeReferences({ volumes = [] }: Volumes): readonly Reference[] {
  return volumes.flatMap(({ secret, configMap, persistentVolumeClaim }, index) => [
    ...volumeObject('Secret', secret, 'secretName', `/spec/volumes/${index}/secret`),
    ...volumeObject('ConfigMap', configMap, 'name', `/spec/volumes/${index}/configMap`),
    ...volumeObject(
      'PersistentVolumeClaim',
      persistentVolumeClaim,
      'claimName',
      `/spec/volumes/${index}/persistentVolumeClaim`,
    ),
  ]);
}

function volumeObject(kind: string, source: unknown, field: string, pointer: string): readonly Reference[] {
  if (!isObject(source)) return [];
  const name = source[field];
  if (typeof name !== 'string') return [];
  return [{ pointer: `${pointer}/${field}`, kind, name, optional: source.optional === true ? 'allowed' : 'waited' }];
}

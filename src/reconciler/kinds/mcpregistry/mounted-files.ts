// Finds the Secret, ConfigMap or claim that contains a file of the registry service's container, by the resource's
// volumes.

import { normalize } from 'node:path/posix';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Selector } from './mounts.ts';

export type MountedFile =
  | { readonly type: 'secret' | 'configMap'; readonly ref: Selector }
  | { readonly type: 'claim'; readonly claimName: string; readonly path: string }
  /** A volume of another type, or a file that is not a key of its Secret or ConfigMap. */
  | { readonly type: 'other' };

export interface Volumes {
  readonly volumes?: readonly JsonObject[] | undefined;
  readonly volumeMounts?: readonly JsonObject[] | undefined;
}

/**
 * Returns undefined if the path is in no mounted volume. If mounts are nested, the deepest mount applies, as in a
 * container.
 */
export function mountedFile({ volumes = [], volumeMounts = [] }: Volumes, path: string): MountedFile | undefined {
  const mount = volumeMounts
    .filter(({ mountPath }) => typeof mountPath === 'string' && isBelow(path, mountPath))
    .toSorted((a, b) => pathParts(String(a.mountPath)).length - pathParts(String(b.mountPath)).length)
    .at(-1);
  if (mount === undefined) return undefined;
  const volume = volumes.find(({ name }) => name === mount.name);
  if (volume === undefined || mount.subPathExpr !== undefined) return { type: 'other' };
  const rest = pathParts(path).slice(pathParts(String(mount.mountPath)).length);
  const file = [...pathParts(typeof mount.subPath === 'string' ? mount.subPath : ''), ...rest].join('/');
  return fileOf(volume, file);
}

/**
 * Returns true if the path is inside `mountPath` or equal to it. Repeated slashes and parts `.` and `..` are resolved
 * first.
 */
export function isBelow(path: string, mountPath: string): boolean {
  const inner = pathParts(path);
  return pathParts(mountPath).every((part, index) => inner[index] === part);
}

export function isSamePath(path: string, other: string): boolean {
  return isBelow(path, other) && isBelow(other, path);
}

function pathParts(path: string): readonly string[] {
  return normalize(path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
}

function fileOf({ secret, configMap, persistentVolumeClaim }: JsonObject, file: string): MountedFile {
  if (isObject(secret)) return keyed('secret', secret.secretName, secret, file);
  if (isObject(configMap)) return keyed('configMap', configMap.name, configMap, file);
  if (isObject(persistentVolumeClaim) && typeof persistentVolumeClaim.claimName === 'string')
    return { type: 'claim', claimName: persistentVolumeClaim.claimName, path: file };
  return { type: 'other' };
}

function keyed(type: 'secret' | 'configMap', name: Json | undefined, source: JsonObject, file: string): MountedFile {
  const { items, optional } = source;
  const item = Array.isArray(items) ? items.filter(isObject).find(({ path }) => path === file) : { key: file };
  const key = item?.key;
  if (typeof name !== 'string' || typeof key !== 'string' || key.includes('/')) return { type: 'other' };
  return { type, ref: optional === true ? { name, key, optional } : { name, key } };
}

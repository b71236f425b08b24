// Writes the volumes of a container to folders of this machine. As in a kubelet, files of ConfigMaps and Secrets are
// links into a folder that is replaced as a whole. A reader thus never sees files of two versions.

import { existsSync } from 'node:fs';
import { mkdir, readdir, readlink, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Data, KeyedFiles, Volume } from './objects.ts';
import type { NodeApi } from './ports.ts';

interface VolumeFile {
  readonly content: Buffer;
  /** The ConfigMap that contains the file. undefined for files of Secrets, which are not adapted to this machine. */
  readonly configMap: Data | undefined;
}

export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

/** Returns undefined if the volume is neither a ConfigMap nor a Secret. Throws if a required object does not exist. */
export async function readVolume(
  api: Pick<NodeApi, 'data'>,
  namespace: string,
  { configMap, secret, projected }: Volume,
): Promise<VolumeFiles | undefined> {
  if (configMap === undefined && secret === undefined && projected === undefined) return undefined;
  const files = new Map<string, VolumeFile>();
  for (const source of projected?.sources ?? [{ configMap, secret }]) {
    for (const plural of ['configmaps', 'secrets'] as const) {
      const keyed = plural === 'configmaps' ? source.configMap : source.secret;
      if (keyed === undefined) continue;
      const data = await findData(api, plural, namespace, keyed);
      for (const [path, content] of filesOf(data, plural, keyed)) {
        files.set(path, { content, configMap: plural === 'configmaps' ? data : undefined });
      }
    }
  }
  return files;
}

type Plural = 'configmaps' | 'secrets';

/** Returns undefined if the object does not exist and is optional. */
async function findData(
  api: Pick<NodeApi, 'data'>,
  plural: Plural,
  namespace: string,
  { name = '', secretName = name, optional = false }: KeyedFiles,
): Promise<Data | undefined> {
  const found = await api.data(plural, namespace, secretName);
  if (found === undefined && !optional) throw notThere(`${plural}/${secretName} does not exist in ${namespace}`);
  return found;
}

function filesOf(
  data: Data | undefined,
  plural: Plural,
  { name, secretName, optional, items }: KeyedFiles,
): readonly (readonly [string, Buffer])[] {
  const values = valuesOf(data, plural);
  const files = items ?? [...values.keys()].map((key) => ({ key, path: key }));
  return files.flatMap(({ key, path }) => {
    const value = values.get(key);
    if (value === undefined && optional !== true) throw notThere(`${plural}/${name ?? secretName} has no key ${key}`);
    if (!isBelow(path)) throw new Error(`the path ${path} of ${plural}/${name ?? secretName} leaves its volume`);
    return value === undefined ? [] : [[path, value] as const];
  });
}

/**
 * True if the relative path stays in its folder. The API server refuses other paths, but old state may contain them.
 */
export function isBelow(path: string): boolean {
  return !path.startsWith('/') && !path.split('/').includes('..');
}

/** Throws if symbolic links lead from the path out of the folder. A path that does not exist is accepted. */
export async function checkInside(folder: string, path: string): Promise<void> {
  const [root, real] = await Promise.all([realpath(folder), realpath(path).catch(() => undefined)]);
  if (real === undefined || real === root || real.startsWith(`${root}${sep}`)) return;
  throw new Error(`a link leads from the volume to ${real}, which is not mounted`);
}

export async function readValues(
  api: Pick<NodeApi, 'data'>,
  plural: Plural,
  namespace: string,
  name: string,
  optional: boolean,
): Promise<ReadonlyMap<string, Buffer>> {
  return valuesOf(await findData(api, plural, namespace, { name, optional }), plural);
}

function valuesOf(found: Data | undefined, plural: Plural): ReadonlyMap<string, Buffer> {
  const { data = {}, binaryData = {} } = found ?? {};
  const encoding = plural === 'secrets' ? 'base64' : 'utf8';
  const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, encoding)] as const);
  const bytes = Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return new Map([...texts, ...bytes]);
}

/** Creates an error that makes the pod wait. The message appears in the container's status. */
export function notThere(message: string): Error {
  return new Error(message);
}

const DATA = '..data';

export async function showFiles(folder: string, files: ReadonlyMap<string, Buffer>, version: string): Promise<void> {
  const content = join(folder, `..${version}`);
  for (const [path, bytes] of files) {
    const target = join(content, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes, { mode: 0o600 });
  }
  await mkdir(content, { recursive: true });
  await symlink(`..${version}`, join(folder, `${DATA}_tmp`));
  const before = await readlink(join(folder, DATA)).catch(() => undefined);
  await rename(join(folder, `${DATA}_tmp`), join(folder, DATA));
  const names = new Set([...files.keys()].map((path) => path.split('/')[0] ?? path));
  for (const name of names) {
    if (!existsSync(join(folder, name))) await symlink(join(DATA, name), join(folder, name));
  }
  const shown = (await readdir(folder)).filter((name) => !name.startsWith('..') && !names.has(name));
  for (const name of shown) await rm(join(folder, name), { force: true });
  if (before !== undefined) await rm(join(folder, before), { recursive: true, force: true });
}

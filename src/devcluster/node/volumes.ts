// The volumes of a container as folders of this machine. ConfigMaps and Secrets are links into a folder that is replaced as a
// whole, as a kubelet does: whoever reads while they change sees all of the old or all of the new. Knows nothing about
// processes.

import { existsSync } from 'node:fs';
import { mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Data, KeyedFiles, Volume } from './objects.ts';
import type { NodeApi } from './ports.ts';

/** The content of a file, and whether it is out of a ConfigMap: only those are adapted to this machine. */
export interface VolumeFile {
  readonly content: Buffer;
  readonly isConfig: boolean;
}

export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

/** Undefined: the volume is no ConfigMap or Secret. Throws where an object is not there. */
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
      for (const [path, content] of await filesOf(api, plural, namespace, keyed)) {
        files.set(path, { content, isConfig: plural === 'configmaps' });
      }
    }
  }
  return files;
}

type Plural = 'configmaps' | 'secrets';

async function filesOf(
  api: Pick<NodeApi, 'data'>,
  plural: Plural,
  namespace: string,
  { name, secretName, optional, items }: KeyedFiles,
): Promise<readonly (readonly [string, Buffer])[]> {
  const values = await readValues(api, plural, namespace, name ?? secretName ?? '', optional === true);
  const wanted = items ?? [...values.keys()].map((key) => ({ key, path: key }));
  return wanted.flatMap(({ key, path }) => {
    const value = values.get(key);
    if (value === undefined && optional !== true) throw notThere(`${plural}/${name ?? secretName} has no key ${key}`);
    return value === undefined ? [] : [[path, value] as const];
  });
}

/** The values of a ConfigMap or of a Secret. */
export async function readValues(
  api: Pick<NodeApi, 'data'>,
  plural: Plural,
  namespace: string,
  name: string,
  optional: boolean,
): Promise<ReadonlyMap<string, Buffer>> {
  const found = await api.data(plural, namespace, name);
  if (found === undefined && !optional) throw notThere(`${plural}/${name} does not exist in ${namespace}`);
  return valuesOf(found ?? {}, plural === 'secrets' ? 'base64' : 'utf8');
}

function valuesOf({ data = {}, binaryData = {} }: Data, encoding: 'base64' | 'utf8'): ReadonlyMap<string, Buffer> {
  const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, encoding)] as const);
  const bytes = Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return new Map([...texts, ...bytes]);
}

/** What a pod waits for: the status of its container has the message. */
export function notThere(message: string): Error {
  return new Error(message);
}

const DATA = '..data';

/** Replaces what the folder shows. */
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

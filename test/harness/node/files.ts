// The volumes of a container as folders of this machine, and what the container reads rewritten to them: paths, and in
// JSON the addresses to listen on and to connect to. Knows nothing about processes.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../src/std/failure.ts';
import type { Api } from '../../recordings/api.ts';
import { type Container, type Data, type KeyedFiles, type Pod, read, type Volume } from './objects.ts';

export interface Addresses {
  /** The port of this machine in place of one of the container. */
  port(containerPort: number): number;
  /** Where a Service is reached from this machine. */
  service(namespace: string, name: string, port: number): Promise<number>;
}

export interface Rewriting {
  /** Paths in a text. */
  text(text: string): string;
}

/** Answers what a mount path is now. Throws Failure `node-object-missing` where an object is not there yet. */
export async function writeVolumes(
  api: Api,
  { metadata: { namespace }, spec }: Pod,
  container: Container,
  folder: string,
  addresses: Addresses,
): Promise<Rewriting> {
  const rewriting = pathsUnder(folder, container);
  for (const { name } of container.volumeMounts ?? []) {
    const target = join(folder, name);
    await mkdir(target, { recursive: true });
    const volume = spec.volumes?.find((each) => each.name === name);
    for (const [file, content] of await filesOf(api, namespace, volume)) {
      const text = rewriting.text(content.toString());
      const path = join(target, file);
      await writeFile(path, file.endsWith('.json') ? await atLocalAddresses(text, addresses) : text);
    }
  }
  return rewriting;
}

function pathsUnder(folder: string, { volumeMounts = [] }: Container): Rewriting {
  const places = new Map(volumeMounts.map(({ name, mountPath }) => [mountPath, join(folder, name)]));
  if (places.size === 0) return { text: (text) => text };
  const any = [...places.keys()].sort((a, b) => b.length - a.length).map((path) => path.replaceAll(/[.\\-]/g, '\\$&'));
  // A whole path, or the beginning of one; each once, since what it becomes may look like one.
  const pattern = new RegExp(`(?<=^|["'=\\s])(${any.join('|')})(?=[/"'\\s]|$)`, 'g');
  return { text: (text) => text.replaceAll(pattern, (path) => places.get(path) ?? path) };
}

async function filesOf(
  api: Api,
  namespace: string,
  { configMap, secret, projected }: Partial<Volume> = {},
): Promise<readonly (readonly [string, Buffer])[]> {
  const sources = projected?.sources ?? [{ configMap, secret }];
  const files = await Promise.all(
    sources.map(async (source) => [
      ...(await entriesOf(api, namespace, 'configmaps', source.configMap)),
      ...(await entriesOf(api, namespace, 'secrets', source.secret)),
    ]),
  );
  return files.flat();
}

type Plural = 'configmaps' | 'secrets';

async function entriesOf(api: Api, namespace: string, plural: Plural, wanted: KeyedFiles | undefined) {
  if (wanted === undefined) return [];
  const data = await readData(api, namespace, plural, wanted.name ?? wanted.secretName ?? '');
  const items = wanted.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return items.map(({ key, path }) => [path, valueAt(data, key)] as const);
}

/** The values of a ConfigMap or of a Secret. */
export async function readData(
  api: Api,
  namespace: string,
  plural: Plural,
  name: string,
): Promise<Readonly<Record<string, Buffer>>> {
  const found = await read<Data>(api, `/api/v1/namespaces/${namespace}/${plural}/${name}`);
  if (found === undefined) throw missing(`${plural}/${name} does not exist`);
  const encoding = plural === 'secrets' ? 'base64' : 'utf8';
  return Object.fromEntries(
    Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, encoding)]),
  );
}

export function valueAt(data: Readonly<Record<string, Buffer>>, key: string): Buffer {
  const value = data[key];
  if (value === undefined) throw missing(`there is no key ${key}`);
  return value;
}

export const MISSING = 'node-object-missing';

/** What a pod waits for. */
function missing(message: string): Failure {
  return new Failure(MISSING, message);
}

async function atLocalAddresses(text: string, addresses: Addresses): Promise<string> {
  return JSON.stringify(await relocate(JSON.parse(text), addresses), undefined, 2);
}

const SERVICE = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/;

async function relocate(value: unknown, addresses: Addresses): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => relocate(each, addresses)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, inner]) => [key, await relocate(inner, addresses)] as const),
  );
  const object = await targetOf(Object.fromEntries(entries), addresses);
  if (object.host === '0.0.0.0' && typeof object.port === 'number') {
    return { ...object, host: '127.0.0.1', port: addresses.port(object.port) };
  }
  return object;
}

/** A configuration that names a Service as the host of its target. */
async function targetOf(object: Record<string, unknown>, addresses: Addresses): Promise<Record<string, unknown>> {
  const [, name, namespace] = SERVICE.exec(String(object.target_host)) ?? [];
  if (name === undefined || namespace === undefined) return object;
  const target_port = await addresses.service(namespace, name, Number(object.target_port));
  return { ...object, target_host: '127.0.0.1', target_port };
}

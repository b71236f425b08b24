// What one container has mounted, kept as its objects are: ConfigMaps adapted to this machine, Secrets as they are, everything
// else an empty folder. Knows nothing about processes.

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LocalText, localText } from './local-text.ts';
import type { Container, Pod, VolumeMount } from './objects.ts';
import type { Addresses, NodeApi, Program } from './ports.ts';
import { readVolume, showFiles, type VolumeFiles } from './volumes.ts';

export interface MountOptions {
  readonly api: Pick<NodeApi, 'data'>;
  readonly pod: Pod;
  readonly spec: Container;
  readonly program: Program;
  readonly addresses: Addresses;
  /** Of the container. */
  readonly folder: string;
  /** Of what outlives pods. */
  readonly claims: string;
}

export interface Mounts {
  readonly text: LocalText;
  /** Writes what has changed, one after the other. Throws while it waits for an object. */
  show(): Promise<void>;
  /** Resolves when nothing is written any more. */
  close(): Promise<void>;
}

export function openMounts(options: MountOptions): Mounts {
  const { api, pod, spec, program, addresses } = options;
  const mounts = spec.volumeMounts ?? [];
  const places = new Map(mounts.map((mount) => [mount.mountPath, join(placeOf(options, mount), mount.subPath ?? '')]));
  const text = localText(spec, places, addresses);
  const shown = new Map<string, string>();

  async function showVolume(mount: VolumeMount): Promise<void> {
    const place = placeOf(options, mount);
    await mkdir(place, { recursive: true, mode: 0o700 });
    const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
    const files = volume === undefined ? undefined : await readVolume(api, pod.metadata.namespace, volume);
    if (files === undefined) return;
    const local = await adapt(files);
    const version = digestOf(local);
    if (shown.get(mount.name) === version) return;
    await showFiles(place, local, version);
    shown.set(mount.name, version);
  }

  async function adapt(files: VolumeFiles): Promise<ReadonlyMap<string, Buffer>> {
    const local = new Map<string, Buffer>();
    for (const [name, { content, isConfig }] of files) {
      const there = isConfig ? await text.file(content.toString()) : '';
      const here = isConfig ? await program.adaptFile?.(name, there, { pod, addresses }) : undefined;
      local.set(name, isConfig ? Buffer.from(here ?? there) : content);
    }
    return local;
  }

  async function showAll(): Promise<void> {
    for (const mount of mounts) if (!closed) await showVolume(mount);
  }

  let closed = false;
  let last: Promise<void> = Promise.resolve();
  return {
    text,
    show() {
      const showing = last.then(showAll);
      last = showing.catch(() => undefined);
      return showing;
    },
    async close() {
      closed = true;
      await last;
    },
  };
}

function placeOf({ pod, folder, claims }: MountOptions, { name }: VolumeMount): string {
  const claim = pod.spec.volumes?.find((each) => each.name === name)?.persistentVolumeClaim?.claimName;
  return claim === undefined ? join(folder, 'volumes', name) : join(claims, pod.metadata.namespace, claim);
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path.length}:${path}${content.length}:`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

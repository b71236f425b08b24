// Writes the mounts of one container and updates them. ConfigMaps are adapted to this machine, Secrets are copied
// unchanged, and other volumes are empty folders.

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Owner } from '../controllers/owners.ts';
import { ACCOUNT_MOUNT, openAccount } from './account-files.ts';
import { type LocalText, localText } from './local-text.ts';
import type { Container, Pod, VolumeMount } from './objects.ts';
import type { Addresses, ImageProgram, NodeApi, NodeClock } from './ports.ts';
import { checkInside, isBelow, readVolume, showFiles, type VolumeFiles } from './volumes.ts';

export interface MountOptions {
  readonly api: Pick<NodeApi, 'account' | 'data' | 'owners'>;
  readonly clock: Pick<NodeClock, 'now'>;
  readonly pod: Pod;
  /** The chain of controllers of the pod, nearest first. */
  readonly owners: readonly Owner[];
  readonly spec: Container;
  readonly program: ImageProgram;
  readonly addresses: Addresses;
  readonly folder: string;
  /** Folder for PersistentVolumeClaims, which outlive pods. */
  readonly claims: string;
}

export interface Mounts {
  readonly text: LocalText;
  /** Mounted folders of this machine. */
  readonly folders: readonly string[];
  /** Creates the folders. Throws if a path or symbolic link leads out of the folders. */
  create(): Promise<void>;
  /** Writes the files that have changed, sequentially. Throws if an object does not exist. */
  show(): Promise<void>;
  /** Resolves when no more files are being written. */
  close(): Promise<void>;
}

export function openMounts(options: MountOptions): Mounts {
  const { api, clock, pod, owners, spec, program, addresses } = options;
  const mounts = mountsOfContainer(spec);
  const readAccount = openAccount(api, clock, pod);
  const places = new Map(mounts.map((mount) => [mount.mountPath, join(placeOf(options, mount), mount.subPath ?? '')]));
  const text = localText(spec, places, addresses);
  const shown = new Map<string, string>();

  async function createFolder(mount: VolumeMount): Promise<void> {
    const place = placeOf(options, mount);
    const { subPath = '' } = mount;
    if (!isBelow(subPath)) throw new Error(`the subPath ${subPath} leaves the volume ${mount.name}`);
    const claim = claimOf(pod, mount) ?? '';
    if (!isBelow(claim)) throw new Error(`${claim} of the volume ${mount.name} is not the name of a claim`);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await checkInside(dirname(place), place);
    await checkInside(place, join(place, subPath));
  }

  async function showVolume(mount: VolumeMount): Promise<void> {
    const place = placeOf(options, mount);
    const files = mount === ACCOUNT_MOUNT ? await readAccount() : await readNamed(options, mount);
    if (files === undefined) return;
    const local = await adapt(files);
    const version = digestOf(local);
    if (shown.get(mount.name) === version) return;
    await showFiles(place, local, version);
    shown.set(mount.name, version);
  }

  async function adapt(files: VolumeFiles): Promise<ReadonlyMap<string, Buffer>> {
    const local = new Map<string, Buffer>();
    for (const [name, { content, configMap }] of files) {
      if (configMap === undefined) {
        local.set(name, content);
        continue;
      }
      const there = await text.file(content.toString());
      const fileOwners = await api.owners(configMap);
      const here = await program.adaptFile?.(name, there, { pod, addresses, owners, fileOwners });
      local.set(name, Buffer.from(here ?? there));
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
    folders: mounts.map((mount) => placeOf(options, mount)),
    async create() {
      for (const mount of mounts) await createFolder(mount);
    },
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

/**
 * Returns the mounts of a container. As in a kubelet, the service account is added unless the container mounts another
 * volume at its path.
 */
function mountsOfContainer({ volumeMounts = [] }: Container): readonly VolumeMount[] {
  const isTaken = volumeMounts.some(({ mountPath }) => mountPath === ACCOUNT_MOUNT.mountPath);
  return isTaken ? volumeMounts : [...volumeMounts, ACCOUNT_MOUNT];
}

async function readNamed({ api, pod }: MountOptions, mount: VolumeMount): Promise<VolumeFiles | undefined> {
  const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
  return volume === undefined ? undefined : await readVolume(api, pod.metadata.namespace, volume);
}

function placeOf({ pod, folder, claims }: MountOptions, { name }: Pick<VolumeMount, 'name'>): string {
  const claim = claimOf(pod, { name });
  return claim === undefined ? join(folder, 'volumes', name) : join(claims, pod.metadata.namespace, claim);
}

function claimOf({ spec }: Pod, { name }: Pick<VolumeMount, 'name'>): string | undefined {
  return spec.volumes?.find((each) => each.name === name)?.persistentVolumeClaim?.claimName;
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path.length}:${path}${content.length}:`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

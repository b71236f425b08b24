// Finds the image of workloads if skep.yaml names none. In a pod, it is the image of this process, with its digest.
// Outside of the cluster, it is the image that a process in a pod has recorded. Without a record, it is the image of
// this release.

import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { InstanceName } from '#reconciler/run/instance.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { readOwnImage, storeOwnImage } from '#reconciler/run/records/own-image.ts';
import type { RunOptions, reconcile } from '#reconciler/run/run.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { awaitWithin } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { VERSION } from '../version.ts';
import { type Hurry, shareOf } from './instance/hurry.ts';

/** Image of workloads if no other image is known. */
export const RELEASED_IMAGE = `ghcr.io/skep-dev/skep:${VERSION}`;

export interface OwnImageFinder {
  /** Returns the image: the found image, the recorded image, or the image of this release. */
  known(): string;
  /**
   * Searches the image if it is not known yet. `leave` also records the image for other processes. Returns a Failure of
   * the search or of writing the record, and the next call tries again. `leave` throws a Failure if the record cannot
   * be read.
   */
  find(how: 'look' | 'leave'): Promise<Failure | undefined>;
}

/**
 * Returns undefined if the configuration names all images, or if another operator creates the workloads. With a time
 * limit, searches the image at once for at most a share of the limit. Otherwise runs search the image.
 */
export async function findOwnImage(
  config: Config,
  cluster: ConnectedCluster,
  environment: Environment,
  { withinMs, endsWithinMs }: Hurry,
): Promise<OwnImageFinder | undefined> {
  if (!config.children || namesAllImages(config)) return undefined;
  const home = { instance: config.name, homeNamespace: cluster.homeNamespace() };
  const finder = openOwnImage(cluster, home, environment);
  const ms = withinMs ?? endsWithinMs;
  if (ms !== undefined) await awaitWithin(shareOf(ms), finder.find('look'));
  return finder;
}

/**
 * Returns a run that searches the image first, and has a warning if the search fails. `options`: returns the run's
 * options after the search.
 */
export function withOwnImage(
  finder: OwnImageFinder | undefined,
  how: typeof reconcile,
  options: (id: string) => RunOptions,
): typeof reconcile {
  if (finder === undefined) return how;
  return async (deps, { id }) => {
    const unknown = await finder.find('leave');
    const result = await how(deps, options(id));
    return unknown === undefined ? result : { ...result, warnings: [...result.warnings, unknown] };
  };
}

function namesAllImages({ images: { proxy, vmcp, registry } }: Config): boolean {
  return ![proxy, vmcp, registry].includes(undefined);
}

/** `environment`: this process is in a pod of the cluster if `POD_NAME` and `POD_NAMESPACE` are set (downward API). */
function openOwnImage(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  environment: Environment,
): OwnImageFinder {
  const { POD_NAME: name = '', POD_NAMESPACE: namespace = '' } = environment;
  const isPod = name !== '' && namespace === home.homeNamespace;
  let found: string | undefined;
  /** Recorded image: the image of the instance's last run in a pod. */
  let stored: string | undefined;
  let left = !isPod;

  async function readStored(): Promise<string> {
    const record = await readOwnImage(cluster, home);
    // The record of another release is ignored, because its workloads have the image of that release.
    return record?.release === VERSION ? record.image : RELEASED_IMAGE;
  }

  async function leave(): Promise<void> {
    if (left || found === undefined) return;
    await storeOwnImage(cluster, home, { image: found, release: VERSION });
    left = true;
  }

  return {
    known: () => found ?? stored ?? RELEASED_IMAGE,
    async find(how) {
      try {
        stored ??= await readStored();
      } catch (error) {
        // Without the recorded image, a run would replace all workloads, and the next run would replace them again.
        if (how === 'look' && error instanceof Failure) return error;
        throw error;
      }
      try {
        found ??= isPod ? await imageOfPod(cluster, namespace, name) : stored;
        if (how === 'leave') await leave();
        return undefined;
      } catch (error) {
        if (error instanceof Failure) return error;
        throw error;
      }
    },
  };
}

const ASKED_MAX = 20;
const PAUSE_MS = 500;

/**
 * Returns the image of the pod. Reads the pod several times, because a container may run before the kubelet has
 * reported its digest. If the image first had only a tag, all workloads would be replaced twice.
 */
async function imageOfPod(cluster: Pick<Cluster, 'get'>, namespace: string, name: string): Promise<string | undefined> {
  for (let asked = 1; ; asked += 1) {
    const pod = await cluster.get({ apiVersion: 'v1', kind: 'Pod', namespace, name });
    const image = pod === undefined ? undefined : imageOf(pod);
    if (image !== undefined || pod === undefined || asked === ASKED_MAX) return image;
    await pause(PAUSE_MS);
  }
}

const DIGEST = /@(sha256:[0-9a-f]{64})$/;
/** Name of skep's container. A service mesh may add containers to the pod. */
const CONTAINER = 'skep';

/**
 * Returns the image name in the pod's spec with the digest in its status (`docker.io/a@sha256:...`, or
 * `docker-pullable://...`). The name is the name that this cluster can pull. An image that was never pulled has no
 * digest, so only its name is returned.
 */
export function imageOf({ spec, status }: Readonly<Record<string, unknown>>): string | undefined {
  const containers = listOf(isObject(spec) ? spec.containers : undefined);
  const own = containers.length === 1 ? containers[0] : containers.find((each) => each.name === CONTAINER);
  if (own === undefined || typeof own.image !== 'string') return undefined;
  if (DIGEST.test(own.image)) return own.image;
  const statuses = listOf(isObject(status) ? status.containerStatuses : undefined);
  const id = statuses.find((each) => each.name === own.name)?.imageID;
  // The kubelet has not reported the image yet, so the caller reads the pod again.
  if (typeof id !== 'string' || id === '') return undefined;
  const digest = DIGEST.exec(id)?.[1];
  return digest === undefined ? own.image : `${withoutTag(own.image)}@${digest}`;
}

/** Removes the tag. A colon before a slash belongs to a port, and stays. */
function withoutTag(image: string): string {
  return image.replace(/:[^:/]+$/, '');
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

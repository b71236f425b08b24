// Finds the image for workloads if skep.yaml names none. Inside the cluster it is the image of this process, by the
// digest in its pod. Outside, it is the image that a process inside has recorded, or else the tag of this release.

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

/** Image of the workloads until a better one is known. */
export const RELEASED_IMAGE = `ghcr.io/skep-dev/skep:${VERSION}`;

export interface OwnImageFinder {
  /**
   * Returns the image as far as it was found; otherwise the recorded image, and without a record the tag of this
   * release.
   */
  known(): string;
  /**
   * Searches the image if it is not known yet, and with `leave` records it for other processes. Returns a Failure of
   * the search or the record; the next call tries again. With `leave`, throws a Failure if the record cannot be read.
   */
  find(how: 'look' | 'leave'): Promise<Failure | undefined>;
}

/**
 * Returns undefined if no image is needed: the configuration names all, or another operator creates the workloads.
 * Commands that only read use the options at once, and do without the image if the cluster does not respond; runs
 * search it themselves.
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
 * Returns a run that searches the image first. If the image is not found, the run has a warning. `options` returns the
 * options after the search, by id.
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

/**
 * `environment`: `POD_NAME` and `POD_NAMESPACE`, which the downward API sets, mean that this process is a pod of the
 * cluster.
 */
function openOwnImage(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  environment: Environment,
): OwnImageFinder {
  const { POD_NAME: name = '', POD_NAMESPACE: namespace = '' } = environment;
  const isPod = name !== '' && namespace === home.homeNamespace;
  let found: string | undefined;
  /** The recorded image: the image of the instance's last run. */
  let stored: string | undefined;
  let left = !isPod;

  async function readStored(): Promise<string> {
    const record = await readOwnImage(cluster, home);
    // A record of another release does not count: its workloads are of that release, too.
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
        // A run without the recorded image would roll out all workloads, and the next run would roll them back.
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
 * Returns the image. Reads the pod several times, because a container runs before its kubelet has reported its image:
 * with a tag until then, all workloads would be rolled out twice.
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
/** Name of our container, because meshes put more containers into the pod. */
const CONTAINER = 'skep';

/**
 * Returns the name in the pod, which this cluster can pull, with the digest from the status (`docker.io/a@sha256:...`,
 * or `docker-pullable://...`). An image that was never pulled has no digest: then it returns the name alone.
 */
export function imageOf({ spec, status }: Readonly<Record<string, unknown>>): string | undefined {
  const containers = listOf(isObject(spec) ? spec.containers : undefined);
  const own = containers.length === 1 ? containers[0] : containers.find((each) => each.name === CONTAINER);
  if (own === undefined || typeof own.image !== 'string') return undefined;
  if (DIGEST.test(own.image)) return own.image;
  const statuses = listOf(isObject(status) ? status.containerStatuses : undefined);
  const id = statuses.find((each) => each.name === own.name)?.imageID;
  // The kubelet has not reported the image yet: the next run reads the pod again.
  if (typeof id !== 'string' || id === '') return undefined;
  const digest = DIGEST.exec(id)?.[1];
  return digest === undefined ? own.image : `${withoutTag(own.image)}@${digest}`;
}

/** A colon before a slash belongs to a port. */
function withoutTag(image: string): string {
  return image.replace(/:[^:/]+$/, '');
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

// Which image workloads run where skep.yaml names none: that of this very process, by its digest, as its pod in the cluster
// says it. Elsewhere what such a process has left, and before there was one the tag of this release.

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

/** What workloads run until something better is known. */
export const RELEASED_IMAGE = `ghcr.io/skep-dev/skep:${VERSION}`;

export interface OwnImageFinder {
  /** As far as it was found; what was left last otherwise, and before there was anything the tag of this release. */
  known(): string;
  /**
   * Looks for it where it is not known yet, and with `leave` leaves it for other processes. What keeps it from either is
   * returned, and the next call tries again. With `leave` throws a Failure where what was left last cannot be read.
   */
  find(how: 'look' | 'leave'): Promise<Failure | undefined>;
}

/**
 * Undefined where none is needed: the configuration names all, or another operator makes the workloads. Commands that only look
 * use the options at once, and do without it where the cluster does not answer; runs look themselves.
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

/** The same run, which looks for the image first; what keeps it from being found is a warning. `options`: as they are then, by id. */
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

/** `environment`: `POD_NAME` and `POD_NAMESPACE`, as the downward API gives them, say that this is a pod of the cluster. */
function openOwnImage(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  environment: Environment,
): OwnImageFinder {
  const { POD_NAME: name = '', POD_NAMESPACE: namespace = '' } = environment;
  const isPod = name !== '' && namespace === home.homeNamespace;
  let found: string | undefined;
  /** What the instance has run last. */
  let stored: string | undefined;
  let left = !isPod;

  async function readStored(): Promise<string> {
    const record = await readOwnImage(cluster, home);
    // Of another release are the workloads as well: what this one would run is its own.
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
        // A run without it would roll out all workloads, and the next one would roll them back.
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

/** A container runs before its kubelet has said what of: with a tag until then, everything would be rolled out twice. */
async function imageOfPod(cluster: Pick<Cluster, 'get'>, namespace: string, name: string): Promise<string | undefined> {
  for (let asked = 1; ; asked += 1) {
    const pod = await cluster.get({ apiVersion: 'v1', kind: 'Pod', namespace, name });
    const image = pod === undefined ? undefined : imageOf(pod);
    if (image !== undefined || pod === undefined || asked === ASKED_MAX) return image;
    await pause(PAUSE_MS);
  }
}

const DIGEST = /@(sha256:[0-9a-f]{64})$/;
/** Beside containers that others have put into the pod. */
const CONTAINER = 'skep';

/**
 * The name as the pod has it, which this cluster can pull, with the digest that it was pulled by (`docker.io/a@sha256:...`, or
 * `docker-pullable://...`). An image that was never pulled has none: then it is the name alone.
 */
export function imageOf({ spec, status }: Readonly<Record<string, unknown>>): string | undefined {
  const containers = listOf(isObject(spec) ? spec.containers : undefined);
  const own = containers.length === 1 ? containers[0] : containers.find((each) => each.name === CONTAINER);
  if (own === undefined || typeof own.image !== 'string') return undefined;
  if (DIGEST.test(own.image)) return own.image;
  const statuses = listOf(isObject(status) ? status.containerStatuses : undefined);
  const id = statuses.find((each) => each.name === own.name)?.imageID;
  // Until the kubelet has said it: the next run asks again.
  if (typeof id !== 'string' || id === '') return undefined;
  const digest = DIGEST.exec(id)?.[1];
  return digest === undefined ? own.image : `${withoutTag(own.image)}@${digest}`;
}

/** A colon before a slash is that of a port. */
function withoutTag(image: string): string {
  return image.replace(/:[^:/]+$/, '');
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

// Reads the last lines of the logs of a resource's containers for the console, without secrets.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { Cluster, PodReads } from '../../ports.ts';
import type { KnownResource } from '../resource-detail.ts';
import { detailedPod } from './detailed-pod.ts';
import { containersOf, listAllPods, type PodContainer } from './find-pods.ts';
import type { ContainerLog, Logs } from './format.ts';
import { hiddenKeyEnd, lineMask, secretsOfPod, secretTexts } from './mask-log.ts';

/** Maximum number of containers whose logs are read: pods that are not ready come first. */
const CONTAINERS_MAX = 6;
const LINES = 40;
const LOG_BYTES = 512 * 1024;
/** Maximum length of a shown line. */
const LINE_MAX = 600;
/** Maximum number of Secrets of one pod that are read, one request each. */
const SECRETS_MAX = 20;

interface LogPlace {
  readonly pod: KubeObject;
  readonly container: PodContainer;
}

/** Throws Failure as `Cluster` does if the pods cannot be listed. */
export async function readLogs(
  cluster: Pick<Cluster, 'get' | 'list' | 'resources'>,
  reads: Pick<PodReads, 'log'>,
  { desired }: Pick<KnownResource, 'desired'>,
): Promise<Logs> {
  const pods = await listAllPods(
    cluster,
    desired.map(({ object }) => object),
  );
  const places = pods
    .toSorted((a, b) => Number(detailedPod(a).ready) - Number(detailedPod(b).ready))
    .flatMap((pod) => loggedContainers(pod).map((container): LogPlace => ({ pod, container })));
  const values = new Map<KubeObject, Promise<SecretValues>>();
  const read = places.slice(0, CONTAINERS_MAX).map(async (place): Promise<ContainerLog> => {
    const { pod, container } = place;
    const previous = container.waiting !== undefined && container.restarts > 0;
    const about = { pod: pod.metadata.name, container: container.name, previous };
    try {
      const known = values.get(pod) ?? readSecretValues(cluster, pod);
      values.set(pod, known);
      const secrets = await known;
      if ('unread' in secrets) return { ...about, lines: [], ...secrets };
      return { ...about, lines: shownLines(await readLog(reads, place, previous), lineMask(secrets.texts)) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ...about, lines: [], unread: error.message };
    }
  });
  return { logs: await Promise.all(read), omitted: Math.max(0, places.length - CONTAINERS_MAX) };
}

/** Returns the containers with a log. Init containers are left out after they have ended. */
function loggedContainers(pod: KubeObject): readonly PodContainer[] {
  return containersOf(pod).filter(
    ({ isInit, waiting, restarts }) => !isInit || (waiting !== undefined && restarts > 0),
  );
}

function readLog(reads: Pick<PodReads, 'log'>, { pod, container }: LogPlace, previous: boolean): Promise<string> {
  const { namespace = '', name } = pod.metadata;
  return reads.log({ namespace, name }, container.name, { lines: LINES, bytes: LOG_BYTES, previous });
}

function shownLines(text: string, mask: (line: string) => string): readonly string[] {
  return hiddenKeyEnd(text.split('\n'))
    .map((line) => mask(line.replace(/\r$/, '')))
    .filter((line, index, all) => line !== '' || index < all.length - 1)
    .slice(-LINES)
    .map((line) => (line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)} …` : line));
}

type SecretValues = { readonly texts: ReadonlySet<string> } | { readonly unread: string };

/** Returns the values that must not be shown. If they are not all known, the log is not shown. */
async function readSecretValues(cluster: Pick<Cluster, 'get'>, pod: KubeObject): Promise<SecretValues> {
  const { namespace = '' } = pod.metadata;
  const names = secretsOfPod(pod);
  if (names === undefined)
    return { unread: 'the pod reads secrets from outside the cluster, which could be in its log' };
  if (names.size > SECRETS_MAX) return { unread: `the pod reads more than ${SECRETS_MAX} Secrets` };
  const secrets = await Promise.all(
    [...names].map((name) => cluster.get({ apiVersion: 'v1', kind: 'Secret', namespace, name })),
  );
  const missing = [...names].filter((_name, index) => secrets[index] === undefined);
  if (missing.length > 0)
    return { unread: `Secret ${missing.join(', ')} does not exist, and its former values could be in the log` };
  return { texts: new Set(secrets.flatMap((secret) => (secret === undefined ? [] : secretTexts(secret)))) };
}

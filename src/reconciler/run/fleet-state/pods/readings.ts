// Reads the metrics of a resource's proxies for the console and, for a virtual server, the document about its members,
// names and workflows. The API server passes the requests on to the pods.

import { OPERATOR_HEADER, OPERATOR_PATHS, operatorToken } from '#contracts/virtual/operator-documents.ts';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '#std/json.ts';
import type { Cluster, PodReads } from '../../ports.ts';
import type { KnownResource } from '../resource-detail.ts';
import { asObject, containersOf, listAllPods } from './find-pods.ts';
import { type PodSample, readSample } from './traffic.ts';

export interface Readings {
  readonly samples: readonly PodSample[];
  /** Pods whose metrics were not read, with the reason. */
  readonly unread: readonly { readonly pod: string; readonly why: string }[];
  /** Set for a virtual server: the document of one of its pods, or why it was not read. */
  readonly virtualServer?: JsonObject;
  readonly virtualServerUnread?: string;
}

/** Maximum number of pods whose metrics are read. */
const PODS_MAX = 8;
const METRICS_BYTES = 2 * 1024 * 1024;
const STATUS_BYTES = 1024 * 1024;

interface Source {
  readonly pod: KubeObject;
  readonly port: number;
  /** Place of the key from which a virtual server derives its token; absent for a proxy. */
  readonly key?: { readonly name: string; readonly key: string };
}

type ReadCluster = Pick<Cluster, 'get' | 'list' | 'resources'>;

/** Throws Failure as `Cluster` does if the pods cannot be listed. */
export async function readReadings(
  cluster: ReadCluster,
  reads: Pick<PodReads, 'request'>,
  { desired }: Pick<KnownResource, 'desired'>,
): Promise<Readings> {
  const pods = await listAllPods(
    cluster,
    desired.map(({ object }) => object),
  );
  const sources = pods.flatMap(sourceIn);
  const read = await Promise.all(sources.slice(0, PODS_MAX).map((source) => readMetrics(cluster, reads, source)));
  const left = sources.slice(PODS_MAX).map(({ pod }) => ({
    pod: pod.metadata.name,
    why: `the metrics of ${PODS_MAX} pods are read, and this is a further one`,
  }));
  const samples = read.flatMap((each) => ('sample' in each ? [each.sample] : []));
  const [virtual] = sources.filter(({ key }) => key !== undefined);
  return {
    samples,
    unread: [...read.flatMap((each) => ('why' in each ? [each] : [])), ...left],
    ...(virtual === undefined ? {} : await readStatus(cluster, reads, virtual)),
  };
}

/** Finds the port with metrics: a virtual server has them on its port of clients, a proxy on a port `metrics`. */
function sourceIn(pod: KubeObject): readonly Source[] {
  return containersOf(pod).flatMap(({ spec }): readonly Source[] => {
    const keyed = objectsIn(spec.env).find(({ name }) => name === VMCP_ENV.sessionHmacSecret);
    const port = Number(
      objectsIn(spec.ports).find(({ name }) => name === (keyed === undefined ? 'metrics' : 'http'))?.containerPort,
    );
    if (Number.isNaN(port)) return [];
    if (keyed === undefined) return [{ pod, port }];
    const { name, key } = asObject(asObject(keyed.valueFrom).secretKeyRef);
    return [{ pod, port, key: { name: String(name), key: String(key) } }];
  });
}

type Read = { readonly sample: PodSample } | { readonly pod: string; readonly why: string };

async function readMetrics(cluster: ReadCluster, reads: Pick<PodReads, 'request'>, source: Source): Promise<Read> {
  const pod = source.pod.metadata.name;
  try {
    const path = source.key === undefined ? '/metrics' : OPERATOR_PATHS.metrics;
    const text = await requestPod(cluster, reads, source, path, METRICS_BYTES);
    const sample = readSample(pod, text);
    return sample === undefined ? { pod, why: 'its answer has no metrics of a proxy' } : { sample };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { pod, why: error.message };
  }
}

async function readStatus(cluster: ReadCluster, reads: Pick<PodReads, 'request'>, source: Source) {
  try {
    const document = parseJson(await requestPod(cluster, reads, source, OPERATOR_PATHS.status, STATUS_BYTES));
    if (isObject(document)) return { virtualServer: document };
    return { virtualServerUnread: 'the answer is not a JSON object' };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { virtualServerUnread: error.message };
  }
}

async function requestPod(
  cluster: ReadCluster,
  reads: Pick<PodReads, 'request'>,
  { pod, port, key }: Source,
  path: string,
  bytes: number,
): Promise<string> {
  const { namespace = '', name } = pod.metadata;
  const how =
    key === undefined ? {} : { headers: { [OPERATOR_HEADER]: await readOperatorToken(cluster, namespace, key) } };
  return reads.request({ namespace, name }, { port, path }, { bytes, ...how });
}

async function readOperatorToken(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  { name, key }: NonNullable<Source['key']>,
) {
  const secret = await cluster.get({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  const value = asObject(secret?.data)[key];
  if (typeof value === 'string' && value !== '') return operatorToken(Buffer.from(value, 'base64').toString());
  const message = `Secret ${namespace}/${name} has no value under ${key}, from which the token is derived`;
  throw new Failure('cluster-error', message);
}

// The API server of the suite and what a test needs around it: throw-away namespaces, clients, waiting. The server is the
// one that KUBECONFIG names, else an embedded one.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import type { DevclusterOptions } from '#kubernetes/devcluster/devcluster.ts';
import type { ClusterNode } from '#kubernetes/devcluster/node/node.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import { startTestCluster } from '../harness/cluster.ts';

export interface SuiteServer {
  readonly kubeconfig: string;
  /** False: the embedded one. */
  readonly isReal: boolean;
  /** Of the embedded one, where its settings ask for one. */
  readonly node: ClusterNode | undefined;
  /** Whoever asks first as `skep-<name>`, with the rights of `kubeconfig` (the admin's); closed with the server. */
  client(name: string, kubeconfig?: string): Promise<ConnectedCluster>;
  /** A namespace of this test run; deleted with the server. */
  namespace(name: string): Promise<string>;
  /** To be deleted with the server, what was told last first, and namespaces after all else. */
  later(id: ResourceId): void;
  /** To be done when the server is closed. */
  atEnd(action: () => void): void;
  close(): Promise<void>;
}

const DEADLINE_MS = 60_000;
const POLL_MS = 100;

/** `named`: a kubeconfig; empty: the embedded server, with these settings. */
export async function openServer(
  named = process.env.KUBECONFIG ?? '',
  settings: Partial<DevclusterOptions> = {},
): Promise<SuiteServer> {
  const embedded = named === '' ? await startTestCluster(settings) : undefined;
  const kubeconfig = embedded?.kubeconfigPath ?? named;
  const suffix = randomBytes(4).toString('hex');
  const clients = new Map<string, ConnectedCluster>();
  const made: ResourceId[] = [];
  const endings: (() => void)[] = [];

  async function client(name: string, as = kubeconfig): Promise<ConnectedCluster> {
    const key = `${name} ${as}`;
    const known = clients.get(key);
    if (known !== undefined) return known;
    const fieldManager = `skep-${name}`;
    const connected = await connectCluster({
      kubeconfig: as,
      fieldManager,
      concurrency: 16,
      version: 'test',
      clock: systemClock,
    });
    clients.set(key, connected);
    return connected;
  }

  return {
    kubeconfig,
    isReal: embedded === undefined,
    node: embedded?.cluster.node,
    client,
    namespace: async (name) => {
      const namespace = `skep-test-${name}-${suffix}`;
      const id = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
      made.push(id);
      const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await (await client('suite')).apply(object, { force: false });
      return namespace;
    },
    later: (id) => void made.unshift(id),
    atEnd: (action) => void endings.push(action),
    close: async () => {
      await removeAll(await client('suite'), made);
      await Promise.all([...clients.values()].map((one) => one.close()));
      for (const ending of endings) ending();
      await embedded?.stop();
    },
  };
}

/** One after the other, and then all namespaces at once: a cluster takes seconds for each. */
async function removeAll(client: ConnectedCluster, ids: readonly ResourceId[]): Promise<void> {
  const isNamespace = ({ kind }: ResourceId): boolean => kind === 'Namespace';
  for (const id of ids) if (!isNamespace(id)) await removeNow(client, id);
  await Promise.all(ids.filter(isNamespace).map((id) => removeNow(client, id)));
}

/** Deletes and waits until it is gone. */
export async function removeNow(client: ConnectedCluster, id: ResourceId): Promise<void> {
  if (!(await beginToRemove(client, id))) return;
  await eventually(
    () => client.get(id).catch(ifUnknownKind),
    (left) => left === undefined,
  );
}

/** Deletes and does not wait until it is gone. False: it was gone. */
export async function beginToRemove(client: ConnectedCluster, id: ResourceId): Promise<boolean> {
  const living = await client.get(id).catch(ifUnknownKind);
  if (living === undefined) return false;
  await client.remove(id, living.metadata.uid ?? '');
  return true;
}

/** A kind that is served no more has no objects any more. */
function ifUnknownKind(error: unknown): undefined {
  if (error instanceof Failure && (error.code === 'cluster-unknown-kind' || error.code === 'cluster-not-found'))
    return undefined;
  throw error;
}

/** No pods come of the workloads: it is about the objects alone, on servers that others use. */
export async function allowNoPods(client: ConnectedCluster, namespace: string): Promise<void> {
  const metadata = { name: 'no-pods', namespace };
  const spec = { hard: { pods: '0', 'count/replicasets.apps': '0' } };
  await client.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec }, { force: false });
}

/** Asks again until the answer pleases; after a minute throws what was seen last. */
export async function eventually<T>(ask: () => Promise<T>, pleases: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await ask();
    if (pleases(value)) return value;
    if (Date.now() > deadline) throw new Error(`not in time; last seen: ${JSON.stringify(value)}`);
    await sleep(POLL_MS);
  }
}

export async function kindOf(client: ConnectedCluster, apiVersion: string, kind: string): Promise<ApiResource> {
  const found = await client.serves(apiVersion, kind);
  if (found === undefined) throw new Error(`${client.server()} serves no ${kind} in ${apiVersion}`);
  return found;
}

/** The Failure that an action ends with. */
export async function failureOf(action: Promise<unknown>): Promise<Failure> {
  const outcome = await action.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof Failure) return outcome.error;
  throw new Error(`no failure but ${JSON.stringify(outcome)}`);
}

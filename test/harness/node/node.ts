// A node for tests: the pods of some namespaces run as processes of this machine, with probes, restarts and statuses, and
// Services lead to them. Knows nothing about what runs.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerName } from '../../../src/devcluster/attach/containers.ts';
import { list, type Pod, podsPath, write } from './objects.ts';
import { type PodParts, type RunningPod, startPod } from './pods.ts';
import { numberOf } from './probes.ts';
import { openServices } from './services.ts';

export interface TestNode {
  /** Whether `pods/attach` reaches it in v5.channel.k8s.io as well. */
  readonly takesV5: boolean;
  /** Where clients of this machine reach a Service. */
  url(namespace: string, service: string, port: number): Promise<string>;
  /** As an out-of-memory kill does. The container is one of a pod whose name begins so. */
  kill(name: ContainerName): void;
  /** What the containers of pods have printed that are there now. */
  log(): string;
  /** Ends all processes. Throws what went wrong since the start. */
  stop(): Promise<void>;
}

export interface NodeOptions extends Omit<PodParts, 'servicePort'> {
  readonly namespaces: readonly string[];
  /** Only pods that are bound to the node of this name; absent: all. */
  readonly boundTo: string | undefined;
  readonly takesV5: boolean;
  /** What else the node does before it looks at pods, each time. */
  before(): Promise<void>;
}

const LOOK_MS = 100;

export function startNode(options: NodeOptions): TestNode {
  const { api, containers } = options;
  const pods = new Map<string, RunningPod>();
  const services = openServices(api, (namespace, labels, port) =>
    endpointOf([...pods.values()], namespace, labels, port),
  );
  const parts: PodParts = { ...options, servicePort: services.port };
  const stopping = new AbortController();
  let failure: unknown;

  async function look(): Promise<void> {
    await options.before();
    const lists = await Promise.all(options.namespaces.map((namespace) => list<Pod>(api, podsPath(namespace))));
    const living = lists
      .flat()
      .filter(({ spec }) => options.boundTo === undefined || spec.nodeName === options.boundTo);
    const uids = new Set(living.map(({ metadata }) => metadata.uid));
    const gone = [...pods].filter(([uid]) => !uids.has(uid));
    await Promise.all(gone.map(([uid]) => end(uid)));
    await Promise.all(living.map(follow));
  }

  async function follow(pod: Pod): Promise<void> {
    const { uid, namespace, name, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      await end(uid);
      const body = { gracePeriodSeconds: 0, preconditions: { uid } };
      await write(api, 'DELETE', `${podsPath(namespace)}/${name}`, body);
      return;
    }
    const started = pods.get(uid) ?? (await startPod(parts, pod));
    if (started === undefined) return;
    pods.set(uid, started);
    await started.report();
  }

  async function end(uid: string): Promise<void> {
    await pods.get(uid)?.stop();
    pods.delete(uid);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => {
        failure ??= error;
      });
      await sleep(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const done = run();
  return {
    takesV5: options.takesV5,
    url: async (namespace, service, port) => `http://127.0.0.1:${await services.port(namespace, service, port)}`,
    kill({ namespace, pod, container }) {
      const found = [...pods.values()].filter(
        ({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name.startsWith(pod),
      );
      for (const { metadata } of found.map((each) => each.pod)) {
        containers.signal({ namespace, pod: metadata.name, container }, 'SIGKILL');
      }
    },
    log: () => [...pods.values()].flatMap((each) => each.containers.map((container) => container.log())).join('\n'),
    async stop() {
      stopping.abort();
      await done;
      await Promise.all([...pods.keys()].map(end));
      await Promise.all([services.close(), containers.stop()]);
      if (failure !== undefined) throw failure;
    },
  };
}

function endpointOf(
  pods: readonly RunningPod[],
  namespace: string,
  labels: Readonly<Record<string, string>>,
  port: string | number,
): number | undefined {
  const found = pods.find(({ pod: { metadata }, ready }) => {
    const fits = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
    return metadata.namespace === namespace && fits && ready();
  });
  const container = found?.pod.spec.containers[0];
  return container === undefined ? undefined : found?.port(numberOf(container, port));
}

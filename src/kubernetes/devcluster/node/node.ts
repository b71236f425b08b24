// Runs a node: its pods are processes of this machine, and its Services forward connections to the pods.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../rules/object.ts';
import type { ContainerName } from '../attach/containers.ts';
import type { RunningContainer } from './container.ts';
import { type LocalContainers, openLocalContainers } from './local-containers.ts';
import { asPod, type Pod, portNumber, type Service } from './objects.ts';
import { type PodParts, type RunningPod, startPod } from './pod.ts';
import type { FindProgram, NodeApi, NodeClock } from './ports.ts';
import { openProcessGroups, type ProcessGroups } from './process-groups.ts';
import { programsOf, whyWorkloadAbsent } from './programs.ts';
import { openServices, type Services } from './services.ts';

export interface NodeOptions {
  readonly api: NodeApi;
  readonly clock: NodeClock;
  /** Folder of the node, created if missing. */
  readonly dir: string;
  /** Returns the URL of the API server, which is known before the first pod runs. */
  readonly apiServer: () => string;
  /** PATH of all processes. */
  readonly path: string;
  readonly find: FindProgram;
  /** If set, pods start only after this promise resolves. */
  readonly begin?: Promise<void> | undefined;
  /** Receives unhandled errors, which are bugs. */
  failed(error: unknown): void;
}

export interface ClusterNode {
  readonly containers: LocalContainers;
  /** Returns undefined if this node does not run the container. */
  container(name: ContainerName): RunningContainer | undefined;
  /**
   * Returns the port of this machine for a port of a pod. undefined if this node does not run the pod or the pod does
   * not declare the port.
   */
  podPort(namespace: string, pod: string, port: number): number | undefined;
  /** Returns the reason why this node does not run the workload's pods. undefined if the node runs them. */
  whyAbsent(workload: KubeObject): Promise<string | undefined>;
  readonly services: Pick<Services, 'port' | 'answers'>;
  stop(): Promise<void>;
}

/** Interval in milliseconds at which mounted objects are read again. */
const REFRESH_MS = 1000;

export function startNode(options: NodeOptions): ClusterNode {
  const { api, clock, dir, failed } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const groups = openProcessGroups(join(dir, 'processes.json'));
  rmSync(join(dir, 'pods'), { recursive: true, force: true });
  const containers = openLocalContainers(groups);
  const pods = new Map<string, RunningPod>();
  const endings = new Map<string, Promise<void>>();
  const services = openServices(api, dir, (service, port) => endpointsOf([...pods.values()], service, port));
  const parts: PodParts = { ...options, containers, groups, servicePort: services.port };
  const stopping = new AbortController();
  let begun = options.begin === undefined;

  async function look(): Promise<void> {
    const desired = await api.pods();
    const uids = new Set(desired.map(({ metadata }) => metadata.uid));
    for (const uid of pods.keys()) if (!uids.has(uid)) end(uid);
    for (const pod of desired) await follow(pod);
  }

  async function follow(pod: Pod): Promise<void> {
    const { uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      void (end(uid) ?? Promise.resolve()).then(() => api.remove(pod)).catch(failed);
      return;
    }
    // An old pod of the same name must end first, so that clients which attach by name find only one pod.
    if (!begun || pods.has(uid) || endings.has(nameOf(pod))) return;
    const owners = await api.owners(pod);
    const programs = programsOf(options.find, pod.spec, owners);
    if (programs !== undefined) pods.set(uid, startPod(parts, { pod, owners, programs }));
  }

  function end(uid: string): Promise<void> | undefined {
    const running = pods.get(uid);
    if (running === undefined) return undefined;
    pods.delete(uid);
    const name = nameOf(running.pod);
    const ending = running
      .stop()
      .catch(failed)
      .finally(() => {
        endings.delete(name);
        looking.again();
      });
    endings.set(name, ending);
    return ending;
  }

  const looking = keepLooking(look, failed, stopping.signal);
  const mounts = keepLooking(() => refreshMounts([...pods.values()], stopping.signal), failed, stopping.signal);
  const unfollow = api.follow(looking.again, mounts.again);
  const refreshing = refreshAgain(clock, mounts.again, stopping.signal);
  looking.again();
  options.begin?.then(() => {
    begun = true;
    looking.again();
  }, failed);
  return {
    containers,
    container: ({ namespace, pod, container }) =>
      find(pods, namespace, pod)?.containers.find(({ spec }) => spec.name === container),
    podPort: (namespace, pod, port) => find(pods, namespace, pod)?.port(port),
    whyAbsent: async (workload) => whyWorkloadAbsent(options.find, workload, await api.owners(asPod(workload))),
    services,
    async stop() {
      unfollow();
      stopping.abort();
      await Promise.all([looking.done(), mounts.done(), refreshing]);
      for (const uid of [...pods.keys()]) end(uid);
      await Promise.all(endings.values());
      await Promise.all([services.close(), stopAll(containers, groups)]);
    },
  };
}

function nameOf({ metadata: { namespace, name } }: Pod): string {
  return `${namespace}/${name}`;
}

function find(pods: ReadonlyMap<string, RunningPod>, namespace: string, name: string): RunningPod | undefined {
  return [...pods.values()].find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name);
}

async function stopAll(containers: LocalContainers, groups: ProcessGroups): Promise<void> {
  await containers.stop();
  await groups.close();
}

/** Calls `look` sequentially. If something changes during a call, `look` is called again afterwards. */
function keepLooking(look: () => Promise<void>, failed: (error: unknown) => void, over: AbortSignal) {
  let running: Promise<void> | undefined;
  let asked = false;
  async function run(): Promise<void> {
    while (asked && !over.aborted) {
      asked = false;
      await look().catch(failed);
    }
    running = undefined;
  }
  return {
    again: () => {
      asked = true;
      running ??= run();
    },
    done: () => running ?? Promise.resolve(),
  };
}

async function refreshMounts(pods: readonly RunningPod[], over: AbortSignal): Promise<void> {
  for (const pod of pods) if (!over.aborted) await pod.refresh();
}

/** Calls `refresh` regularly, so that changes are found even without a notification. */
async function refreshAgain(clock: NodeClock, refresh: () => void, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(REFRESH_MS, over);
    refresh();
  }
}

function endpointsOf(pods: readonly RunningPod[], { metadata, spec }: Service, port: string | number): number[] {
  const selector = Object.entries(spec.selector ?? {});
  if (selector.length === 0) return [];
  return pods.flatMap((running) => {
    const { pod } = running;
    const fits = selector.every(([key, value]) => pod.metadata.labels?.[key] === value);
    if (pod.metadata.namespace !== metadata.namespace || !fits || !running.ready()) return [];
    const numbers = pod.spec.containers.flatMap((container) => portNumber(container, port) ?? []);
    return numbers.slice(0, 1).flatMap((number) => running.port(number) ?? []);
  });
}

// Runs one pod as processes of this machine. Each run of a container is prepared again, because its objects may have
// changed and its ports may be taken.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Owner } from '../controllers/owners.ts';
import { type RunningContainer, runContainer } from './container.ts';
import { openEntryPoint } from './entry-points.ts';
import { expandReferences, isLoaderVariable, readEnvironment } from './environment.ts';
import { freePort, probePort } from './free-port.ts';
import type { LocalContainers } from './local-containers.ts';
import { openLog } from './log.ts';
import { type Mounts, openMounts } from './mounts.ts';
import type { Container, Pod } from './objects.ts';
import type { EntryPoint, ImageProgram, NodeApi, NodeClock, NodeEvent } from './ports.ts';
import { withoutCommands } from './probes.ts';
import type { LocalCommand, ProcessGroups } from './process-groups.ts';
import type { Programs } from './programs.ts';
import { podStatus } from './status.ts';

export interface PodParts {
  readonly api: NodeApi;
  readonly clock: NodeClock;
  readonly containers: LocalContainers;
  readonly groups: ProcessGroups;
  /** Folder of the node, which contains a folder for each pod. */
  readonly dir: string;
  /** PATH of all processes. */
  readonly path: string;
  servicePort(namespace: string, name: string, port: number): Promise<number>;
  apiServer(): string;
  /** Receives errors that the pod's status does not show. */
  failed(error: unknown): void;
}

export interface RunningPod {
  readonly pod: Pod;
  readonly containers: readonly RunningContainer[];
  ready(): boolean;
  /** Returns the port of this machine for a container port. undefined if no container declares the port. */
  port(containerPort: number): number | undefined;
  /** Updates mounted ConfigMaps and Secrets that have changed. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

export interface PodToRun {
  readonly pod: Pod;
  /** The chain of controllers of the pod, nearest first. */
  readonly owners: readonly Owner[];
  readonly programs: Programs;
}

interface PodRun {
  readonly parts: PodParts;
  readonly pod: Pod;
  readonly owners: readonly Owner[];
  readonly folder: string;
  readonly ports: Map<number, number>;
  readonly graceMs: number;
  /** Variables that an Event has already reported. */
  readonly leftOut: Set<string>;
  /** Aborted when the pod is stopped. */
  readonly stopping: AbortSignal;
  changed(): void;
  record(event: NodeEvent): void;
}

const GRACE_SECONDS = 30;

export function startPod(parts: PodParts, { pod, owners, programs }: PodToRun): RunningPod {
  const { api, clock, failed } = parts;
  const since = clock.now();
  const stopping = new AbortController();
  const containers: RunningContainer[] = [];
  const report = reporter(parts, pod, () => podStatus(containers, since));
  const running: PodRun = {
    ...{ parts, pod, owners, changed: report },
    folder: join(parts.dir, 'pods', pod.metadata.uid),
    ports: new Map(),
    leftOut: new Set(),
    graceMs: 1000 * (pod.spec.terminationGracePeriodSeconds ?? GRACE_SECONDS),
    stopping: stopping.signal,
    record: (event) => void api.recordEvent(pod, event).catch(failed),
  };
  const mounts: Mounts[] = [];
  for (const spec of pod.spec.containers) {
    const program = programs.get(spec.name);
    if (program === undefined) continue;
    const mounted = mountsOf(running, spec, program);
    mounts.push(mounted);
    containers.push(startContainer(running, withoutCommands(spec), program, mounted));
  }
  recordLeftOut(running);
  report();
  return {
    pod,
    containers,
    ready: () => containers.every((each) => each.state().ready),
    port: (containerPort) => running.ports.get(containerPort),
    refresh: async () => {
      // A mounted object may have been deleted since the start. The container then keeps its files.
      for (const each of mounts) await each.show().catch(() => undefined);
    },
    async stop() {
      stopping.abort();
      await Promise.all(containers.map((each) => each.stop(running.graceMs)));
      await Promise.all(mounts.map((each) => each.close()));
      await rm(running.folder, { recursive: true, force: true });
    },
  };
}

/** Returns a function that writes the status if it has changed. Writes never overlap. */
function reporter({ api, failed }: PodParts, pod: Pod, status: () => object): () => void {
  let written = '';
  let writing = false;
  async function write(): Promise<void> {
    // Combines changes of the same moment into one status.
    await Promise.resolve();
    for (let text = JSON.stringify(status()); text !== written; text = JSON.stringify(status())) {
      written = text;
      await api.writeStatus(pod, JSON.parse(text)).catch(failed);
    }
    writing = false;
  }
  return () => {
    if (writing) return;
    writing = true;
    void write();
  };
}

function startContainer(running: PodRun, spec: Container, program: ImageProgram, mounts: Mounts): RunningContainer {
  const { parts, pod, graceMs } = running;
  const { namespace, name } = pod.metadata;
  const entryPoint = openEntryPoint(program, {
    ...parts,
    place: { folders: [folderOf(running, spec), ...mounts.folders] },
    stopping: running.stopping,
    failed: (message) => running.record({ type: 'Warning', reason: 'Failed', message }),
  });
  const known = pod.status?.containerStatuses?.find((each) => each.name === spec.name);
  return runContainer({
    ...{ spec, graceMs, clock: parts.clock, containers: parts.containers, log: openLog(parts.clock.now) },
    name: { namespace, pod: name, container: spec.name },
    // A container with a status has already run before this process started.
    restarts: known === undefined ? 0 : (known.restartCount ?? 0) + 1,
    restartPolicy: pod.spec.restartPolicy ?? 'Always',
    probes: { local: (containerPort) => running.ports.get(containerPort) },
    prepare: async () => prepare(running, spec, program, mounts, entryPoint),
    changed: running.changed,
    record: running.record,
  });
}

function folderOf({ folder }: PodRun, { name }: Container): string {
  return join(folder, name);
}

function mountsOf(running: PodRun, spec: Container, program: ImageProgram): Mounts {
  const { parts, pod, owners, ports } = running;
  const { api, clock, dir, servicePort, apiServer } = parts;
  const addresses = { port: (port: number) => ports.get(port) ?? port, service: servicePort, apiServer };
  const places = { folder: folderOf(running, spec), claims: join(dir, 'claims') };
  return openMounts({ api, clock, pod, owners, spec, program, addresses, ...places });
}

/** Prepares the command of a container. Throws if a required object does not exist yet. */
async function prepare(
  running: PodRun,
  spec: Container,
  program: ImageProgram,
  { text, create, show }: Mounts,
  findEntryPoint: () => Promise<EntryPoint>,
): Promise<LocalCommand> {
  const { parts, pod, ports } = running;
  const home = join(folderOf(running, spec), 'home');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await create();
  const entryPoint = await findEntryPoint();
  for (const { containerPort } of spec.ports ?? []) {
    const known = ports.get(containerPort);
    if (known === undefined || !(await probePort(known))) ports.set(containerPort, await freePort());
  }
  await show();
  const env: Record<string, string> = { PATH: parts.path, HOME: home };
  for (const [name, value] of Object.entries(await readEnvironment(parts.api, pod, spec))) {
    if (!isLoaderVariable(name)) env[name] = await text.variable(name, value);
    else if (program.expected?.[name] !== value) recordVariable(running, name);
  }
  Object.assign(env, await program.environment?.(pod));
  // The entry point is already a command of this machine. Only the pod's own arguments contain container paths.
  const [first = '', ...own] = entryPoint.map((word) => expandReferences(word, env));
  const given = (spec.args ?? []).map((word) => text.argument(expandReferences(word, env)));
  return { program: first, args: [...own, ...(await Promise.all(given))], env, directory: home };
}

function recordVariable({ leftOut, record }: PodRun, name: string): void {
  if (leftOut.has(name)) return;
  leftOut.add(name);
  const message = `the variable ${name} is left out: it could make the process load other code, programs or files of this machine`;
  record({ type: 'Warning', reason: 'VariableLeftOut', message });
}

/** Records Events for paths and commands of the manifest that this machine does not provide. */
function recordLeftOut({ pod, record }: PodRun): void {
  for (const { hostPath } of pod.spec.volumes ?? []) {
    if (hostPath === undefined) continue;
    const message = `${hostPath.path} of this machine is not mounted: the container has an empty folder in its place`;
    record({ type: 'Normal', reason: 'HostPathLeftOut', message });
  }
  for (const spec of pod.spec.containers) {
    if (withoutCommands(spec) === spec) continue;
    const message = `the probe of container ${spec.name} that runs a command is left out: manifests start no programs on this machine`;
    record({ type: 'Normal', reason: 'ProbeLeftOut', message });
  }
}

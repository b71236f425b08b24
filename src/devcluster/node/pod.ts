// One pod as processes of this machine: each of its containers is prepared anew for every run, since ports may be taken
// meanwhile and objects change. Knows nothing about who made the pod.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningContainer, runContainer } from './container.ts';
import { openEntryPoint } from './entry-points.ts';
import { expandReferences, readEnvironment } from './environment.ts';
import { freePort, probePort } from './free-port.ts';
import type { LocalContainers } from './local-containers.ts';
import { openLog } from './log.ts';
import { type Mounts, openMounts } from './mounts.ts';
import type { Container, Pod } from './objects.ts';
import type { EntryPoint, NodeApi, NodeClock, NodeEvent, Program } from './ports.ts';
import type { ProbeWorld } from './probes.ts';
import type { LocalCommand, ProcessGroups } from './process-groups.ts';
import type { Programs } from './programs.ts';
import { podStatus } from './status.ts';

export interface PodParts {
  readonly api: NodeApi;
  readonly clock: NodeClock;
  readonly containers: LocalContainers;
  readonly groups: ProcessGroups;
  /** Of the node; each pod gets one of its own in it. */
  readonly dir: string;
  /** PATH of every process. */
  readonly path: string;
  servicePort(namespace: string, name: string, port: number): Promise<number>;
  /** What goes wrong with no one to report it to. */
  failed(error: unknown): void;
}

export interface RunningPod {
  readonly pod: Pod;
  readonly containers: readonly RunningContainer[];
  ready(): boolean;
  /** The port of this machine in place of one of its containers'; undefined: they declare none of this number. */
  port(containerPort: number): number | undefined;
  /** Replaces mounted ConfigMaps and Secrets that have changed. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

interface Running {
  readonly parts: PodParts;
  readonly pod: Pod;
  readonly folder: string;
  /** Of this machine, by those of the containers. */
  readonly ports: Map<number, number>;
  readonly graceMs: number;
  /** It has been asked to stop. */
  readonly stopping: AbortSignal;
  changed(): void;
  record(event: NodeEvent): void;
}

const GRACE_SECONDS = 30;

export function startPod(parts: PodParts, pod: Pod, programs: Programs): RunningPod {
  const { api, clock, failed } = parts;
  const since = clock.now();
  const stopping = new AbortController();
  const containers: RunningContainer[] = [];
  const report = reporter(parts, pod, () => podStatus(containers, since));
  const running: Running = {
    ...{ parts, pod, changed: report },
    folder: join(parts.dir, 'pods', pod.metadata.uid),
    ports: new Map(),
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
    containers.push(startContainer(running, spec, program, mounted));
  }
  recordLeftOut(running);
  report();
  return {
    pod,
    containers,
    ready: () => containers.every((each) => each.state().ready),
    port: (containerPort) => running.ports.get(containerPort),
    refresh: async () => {
      // What is missing now was there before: the container keeps what it has.
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

/** Writes the status, one after the other, where it is another than before. */
function reporter({ api, failed }: PodParts, pod: Pod, status: () => object): () => void {
  let written = '';
  let writing = false;
  async function write(): Promise<void> {
    // Changes of one moment are one status.
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

function startContainer(running: Running, spec: Container, program: Program, mounts: Mounts): RunningContainer {
  const { parts, pod, graceMs } = running;
  const { namespace, name } = pod.metadata;
  const entryPoint = openEntryPoint(program, {
    ...parts,
    stopping: running.stopping,
    failed: (message) => running.record({ type: 'Warning', reason: 'Failed', message }),
  });
  const known = pod.status?.containerStatuses?.find((each) => each.name === spec.name);
  let latest: LocalCommand | undefined;
  return runContainer({
    ...{ spec, graceMs, clock: parts.clock, containers: parts.containers, log: openLog(parts.clock.now) },
    name: { namespace, pod: name, container: spec.name },
    // It ran before this process did.
    restarts: known === undefined ? 0 : (known.restartCount ?? 0) + 1,
    restartPolicy: pod.spec.restartPolicy ?? 'Always',
    probes: probeWorld(running, () => latest),
    prepare: async () => {
      latest = await prepare(running, spec, program, mounts, await entryPoint());
      return latest;
    },
    changed: running.changed,
    record: running.record,
  });
}

function mountsOf({ parts, pod, folder, ports }: Running, spec: Container, program: Program): Mounts {
  const { api, dir, servicePort } = parts;
  const addresses = { port: (port: number) => ports.get(port) ?? port, service: servicePort };
  const places = { folder: join(folder, spec.name), claims: join(dir, 'claims') };
  return openMounts({ api, pod, spec, program, addresses, ...places });
}

/** Throws while it waits for an object. */
async function prepare(
  { parts, pod, folder, ports }: Running,
  spec: Container,
  program: Program,
  { text, show }: Mounts,
  entryPoint: EntryPoint,
): Promise<LocalCommand> {
  for (const { containerPort } of spec.ports ?? []) {
    const known = ports.get(containerPort);
    if (known === undefined || !(await probePort(known))) ports.set(containerPort, await freePort());
  }
  const home = join(folder, spec.name, 'home');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await show();
  const env: Record<string, string> = { PATH: parts.path, HOME: home };
  for (const [name, value] of Object.entries(await readEnvironment(parts.api, pod, spec))) {
    env[name] = await text.variable(name, value);
  }
  Object.assign(env, await program.environment?.(pod));
  // The command is of this machine, and so are its paths; what the pod says is of the container.
  const [first = '', ...own] = entryPoint.map((word) => expandReferences(word, env));
  const given = (spec.args ?? []).map((word) => text.argument(expandReferences(word, env)));
  return { program: first, args: [...own, ...(await Promise.all(given))], env, directory: home };
}

function probeWorld({ parts, ports }: Running, latest: () => LocalCommand | undefined): ProbeWorld {
  return {
    local: (containerPort) => ports.get(containerPort) ?? containerPort,
    runs: ([program = '', ...args], timeoutMs) =>
      new Promise((resolve) => {
        const child = parts.groups.start({ env: {}, ...latest(), program, args });
        child.stdout.resume();
        child.stderr.resume();
        const late = setTimeout(() => parts.groups.signal(child, 'SIGKILL'), timeoutMs);
        child.once('error', () => resolve(false));
        child.once('exit', (code) => {
          clearTimeout(late);
          resolve(code === 0);
        });
      }),
  };
}

/** Paths of this machine that a container may name, and that it does not get here. */
function recordLeftOut({ pod, record }: Running): void {
  for (const { hostPath } of pod.spec.volumes ?? []) {
    if (hostPath === undefined) continue;
    const message = `${hostPath.path} of this machine is not mounted: the container has an empty folder in its place`;
    record({ type: 'Normal', reason: 'HostPathLeftOut', message });
  }
}

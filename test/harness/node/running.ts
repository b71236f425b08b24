// One container of a pod as a process of this machine: started, asked its probes, and started again where it ends. Knows
// nothing about the API server.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerName } from '../../../src/devcluster/attach/containers.ts';
import type { LocalCommand, LocalContainers } from '../../../src/devcluster/attach/local-containers.ts';
import type { Container } from './objects.ts';
import { passes } from './probes.ts';

/** What its status says. */
export interface ContainerState {
  readonly id: string;
  readonly running: boolean;
  readonly ready: boolean;
  readonly restarts: number;
  readonly startedAt: string;
  /** Of the run before. */
  readonly exitCode: number | undefined;
}

export interface RunningContainer {
  readonly spec: Container;
  state(): ContainerState;
  /** The end of what all its runs have printed. */
  log(): string;
  /** SIGTERM, SIGKILL after the time; resolves when it has ended for good. */
  stop(graceMs: number): Promise<void>;
}

const LOOK_MS = 200;
const LOG_CHARACTERS = 20_000;
const BACK_OFF_MS = 500;
const MAX_BACK_OFF_MS = 20_000;

interface Options {
  readonly containers: LocalContainers;
  readonly name: ContainerName;
  readonly spec: Container;
  readonly command: LocalCommand;
  /** The port of this machine in place of one of the container. */
  readonly local: (containerPort: number) => number;
}

export function runContainer(options: Options): RunningContainer {
  const { containers, name, spec } = options;
  const stopping = new AbortController();
  let state: ContainerState = {
    ...{ id: '', running: false, ready: false, restarts: 0, startedAt: '', exitCode: undefined },
  };
  let log = '';
  const change = (part: Partial<ContainerState>) => {
    state = { ...state, ...part };
  };

  async function runOnce(): Promise<void> {
    const over = new AbortController();
    const ended = new Promise<string | undefined>((resolve) => {
      const id = containers.start(name, options.command);
      const print = (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-LOG_CHARACTERS);
      };
      const output = { stdout: print, stderr: print, ended: resolve, lost: () => undefined };
      if (containers.connect(name, output) === undefined) throw new Error(`${name.container} did not start`);
      change({ id, running: true, ready: spec.readinessProbe === undefined, startedAt: new Date().toISOString() });
    });
    const watching = [
      watchReadiness(options, over.signal, (ready) => change({ ready })),
      watchLife(options, over.signal),
    ];
    const error = await ended;
    over.abort();
    await Promise.all(watching);
    change({ running: false, ready: false, exitCode: exitCodeIn(error) });
  }

  async function keepRunning(): Promise<void> {
    for (let wait = BACK_OFF_MS; ; wait = Math.min(wait * 2, MAX_BACK_OFF_MS)) {
      await runOnce();
      await pause(wait, stopping.signal);
      if (stopping.signal.aborted) return;
      change({ restarts: state.restarts + 1 });
    }
  }

  const done = keepRunning();
  return {
    spec,
    state: () => state,
    log: () => log,
    async stop(graceMs) {
      stopping.abort();
      containers.signal(name, 'SIGTERM');
      const late = setTimeout(() => containers.signal(name, 'SIGKILL'), graceMs);
      await done;
      clearTimeout(late);
    },
  };
}

/** As a kubelet writes it in the status of an attached container. */
function exitCodeIn(error: string | undefined): number {
  if (error === undefined) return 0;
  return Number(/exit code (\d+)/.exec(error)?.[1] ?? 137);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** From the start and often: its delays are for slower clusters. */
async function watchReadiness({ spec, local }: Options, over: AbortSignal, report: (ready: boolean) => void) {
  const { readinessProbe: probe } = spec;
  if (probe === undefined) return;
  while (!over.aborted) {
    const ready = await passes(probe, spec, local);
    if (!over.aborted) report(ready);
    await pause(LOOK_MS, over);
  }
}

async function watchLife({ containers, name, spec, local }: Options, over: AbortSignal): Promise<void> {
  const { livenessProbe: probe } = spec;
  if (probe === undefined) return;
  await pause(1000 * (probe.initialDelaySeconds ?? 0), over);
  for (let failures = 0; !over.aborted && failures < (probe.failureThreshold ?? 3); ) {
    failures = (await passes(probe, spec, local)) ? 0 : failures + 1;
    await pause(1000 * (probe.periodSeconds ?? 10), over);
  }
  if (!over.aborted) containers.signal(name, 'SIGKILL');
}

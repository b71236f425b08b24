// Runs a container once: writes its log, performs its probes and returns its exit code.

import { constants } from 'node:os';
import type { ContainerName } from '../attach/containers.ts';
import type { ContainerState, EndedRun } from './container-state.ts';
import type { LocalContainers } from './local-containers.ts';
import type { ContainerLog } from './log.ts';
import type { Container } from './objects.ts';
import type { NodeClock, NodeEvent } from './ports.ts';
import type { ProbeWorld } from './probes.ts';
import type { LocalCommand } from './process-groups.ts';
import { watchProbes } from './watch-probes.ts';

export interface ContainerOptions {
  readonly containers: LocalContainers;
  readonly name: ContainerName;
  readonly spec: Container;
  readonly log: ContainerLog;
  readonly clock: NodeClock;
  readonly probes: ProbeWorld;
  readonly graceMs: number;
  readonly restarts: number;
  readonly restartPolicy: string;
  /** Returns the command. Called before each run. Throws while a required object is missing. */
  prepare(): Promise<LocalCommand>;
  changed(): void;
  record(event: NodeEvent): void;
}

interface RunOptions extends ContainerOptions {
  /** Aborted when the container must stop. */
  readonly stopping: AbortSignal;
  change(part: Partial<ContainerState>): void;
}

export async function runOnce(options: RunOptions, command: LocalCommand): Promise<EndedRun> {
  const { containers, name, spec, log, clock, change } = options;
  const over = new AbortController();
  const startedAt = clock.now();
  log.begin();
  const id = containers.start(name, command, { stdinOnce: spec.stdinOnce });
  const ended = untilEnded(options);
  const asked = spec.startupProbe !== undefined;
  const ready = !asked && spec.readinessProbe === undefined;
  change({ id, stage: { is: 'running', startedAt }, started: !asked, ready });
  options.record({ type: 'Normal', reason: 'Started', message: `Started container ${spec.name}` });
  // The container was stopped during its start, so no other code sends this signal.
  if (options.stopping.aborted) containers.signal(name, 'SIGTERM');
  const kill = () => killSoftly(options, over.signal);
  const watching = watchProbes({ ...options, over: over.signal, kill });
  const exitCode = exitCodeIn(await ended);
  over.abort();
  await watching;
  log.end();
  return { id, exitCode, startedAt, finishedAt: clock.now() };
}

/** Resolves with the error with which the container ended. undefined for exit code 0. */
function untilEnded({ containers, name, spec, log }: ContainerOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const connection = containers.connect(name, {
      stdout: (chunk) => log.write('stdout', chunk),
      stderr: (chunk) => log.write('stderr', chunk),
      ended: resolve,
      lost: () => undefined,
    });
    if (spec.stdin !== true) connection?.endInput();
  });
}

async function killSoftly({ containers, name, clock, graceMs }: RunOptions, over: AbortSignal): Promise<void> {
  containers.signal(name, 'SIGTERM');
  await clock.sleep(graceMs, over);
  if (!over.aborted) containers.signal(name, 'SIGKILL');
}

/** Returns the exit code. For a signal, it is 128 plus the signal number, as in shells and container runtimes. */
function exitCodeIn(error: string | undefined): number {
  if (error === undefined) return 0;
  const [, code] = /exit code (\d+)/.exec(error) ?? [];
  if (code !== undefined) return Number(code);
  const [, signal] = /terminated with (SIG\w+)/.exec(error) ?? [];
  const number = Object.entries(constants.signals).find(([each]) => each === signal)?.[1];
  return number === undefined ? 128 : 128 + number;
}

// Runs a container of a pod as a process of this machine, and restarts it when it ends. Delays grow if runs are short.

import { type ContainerOptions, runOnce } from './container-run.ts';
import type { ContainerState, EndedRun, Stage } from './container-state.ts';
import type { ContainerLog } from './log.ts';
import type { Container } from './objects.ts';
import type { LocalCommand } from './process-groups.ts';

export interface RunningContainer {
  readonly spec: Container;
  readonly log: ContainerLog;
  state(): ContainerState;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the container has ended and will not be restarted. */
  stop(graceMs: number): Promise<void>;
}

/** Delay of the second restart in milliseconds. The first restart is immediate. Each later delay is doubled. */
const BACK_OFF_MS = 1000;
const MAX_BACK_OFF_MS = 60_000;
/** After a run of this length, the container is restarted immediately. */
const LONG_RUN_MS = 60_000;
const LOOK_AGAIN_MS = 500;

export function runContainer(options: ContainerOptions): RunningContainer {
  const { containers, name, spec, log, clock, record } = options;
  const stopping = new AbortController();
  const creating: Stage = { is: 'waiting', reason: 'ContainerCreating', message: '' };
  const { restarts } = options;
  let state: ContainerState = { id: '', stage: creating, started: false, ready: false, restarts, last: undefined };

  function change(part: Partial<ContainerState>): void {
    state = { ...state, ...part };
    options.changed();
  }

  /** Returns undefined if the container was stopped before it started. */
  async function prepared(): Promise<LocalCommand | undefined> {
    while (!stopping.signal.aborted) {
      try {
        return await options.prepare();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        change({ stage: { is: 'waiting', reason: 'CreateContainerConfigError', message } });
        await clock.sleep(LOOK_AGAIN_MS, stopping.signal);
      }
    }
    return undefined;
  }

  async function keepRunning(): Promise<void> {
    let wait = 0;
    for (let command = await prepared(); command !== undefined; command = await prepared()) {
      const run = await runOnce({ ...options, change, stopping: stopping.signal }, command);
      const finished = stopping.signal.aborted || !isRestarted(options.restartPolicy, run);
      change({ stage: { is: 'terminated', run }, started: false, ready: false });
      if (finished) return;
      if (run.finishedAt - run.startedAt > LONG_RUN_MS) wait = 0;
      if (wait > 0) await backOff(wait);
      if (stopping.signal.aborted) return;
      wait = Math.min(Math.max(wait * 2, BACK_OFF_MS), MAX_BACK_OFF_MS);
      change({ stage: creating, last: run, restarts: state.restarts + 1 });
    }
  }

  async function backOff(wait: number): Promise<void> {
    const text = `restarting failed container ${spec.name} in pod ${name.pod}`;
    const message = `back-off ${wait / 1000}s ${text}`;
    const last = state.stage.is === 'terminated' ? state.stage.run : state.last;
    change({ stage: { is: 'waiting', reason: 'CrashLoopBackOff', message }, last });
    record({ type: 'Warning', reason: 'BackOff', message: `Back-off ${text}` });
    await clock.sleep(wait, stopping.signal);
  }

  const done = keepRunning();
  return {
    spec,
    log,
    state: () => state,
    async stop(graceMs) {
      stopping.abort();
      containers.signal(name, 'SIGTERM');
      const late = new AbortController();
      const killing = clock.sleep(graceMs, late.signal).then(() => {
        if (!late.signal.aborted) containers.signal(name, 'SIGKILL');
      });
      await done;
      late.abort();
      await killing;
    },
  };
}

function isRestarted(policy: string, { exitCode }: EndedRun): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

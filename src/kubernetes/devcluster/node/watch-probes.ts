// Runs the probes of one run of a container, to detect its start, its readiness and the need to kill it. Until the
// container is ready, it is probed often and without the declared delays, which are meant for slower clusters.
// Afterwards the declared intervals apply.

import type { ContainerState } from './container-state.ts';
import type { Container, Probe } from './objects.ts';
import type { NodeClock, NodeEvent } from './ports.ts';
import { askProbe, type ProbeWorld } from './probes.ts';

interface WatchOptions {
  readonly spec: Container;
  readonly probes: ProbeWorld;
  readonly clock: NodeClock;
  record(event: NodeEvent): void;
  /** Aborted when the run has ended. */
  readonly over: AbortSignal;
  change(part: Partial<ContainerState>): void;
  /** Kills the container and resolves after its end. */
  kill(): Promise<void>;
}

const OFTEN_MS = 250;

/** Resolves when the run has ended. */
export async function watchProbes(options: WatchOptions): Promise<void> {
  const { spec, change } = options;
  if (spec.startupProbe !== undefined) {
    if (!(await untilStarted(options, spec.startupProbe))) return;
    change({ started: true, ready: spec.readinessProbe === undefined });
  }
  await Promise.all([
    spec.readinessProbe === undefined ? undefined : watchReadiness(options, spec.readinessProbe),
    spec.livenessProbe === undefined ? undefined : watchLife(options, spec.livenessProbe),
  ]);
}

/** Returns false if the container took too long to start or has ended. */
async function untilStarted(options: WatchOptions, probe: Probe): Promise<boolean> {
  const { clock, over } = options;
  const { initialDelaySeconds = 0, periodSeconds = 10, failureThreshold = 3 } = probe;
  const deadline = clock.now() + 1000 * (initialDelaySeconds + periodSeconds * failureThreshold);
  while (!over.aborted) {
    const { passed, detail } = await askProbe(probe, options.spec, options.probes);
    if (passed) return !over.aborted;
    if (clock.now() >= deadline) {
      await killFailed(options, 'Startup', detail);
      return false;
    }
    await clock.sleep(OFTEN_MS, over);
  }
  return false;
}

async function watchReadiness(options: WatchOptions, probe: Probe): Promise<void> {
  const { clock, over } = options;
  const { periodSeconds = 10, failureThreshold = 3 } = probe;
  let ready = false;
  for (let failures = 0; !over.aborted; ) {
    const { passed, detail } = await askProbe(probe, options.spec, options.probes);
    if (over.aborted) return;
    failures = passed ? 0 : failures + 1;
    const now: boolean = passed || (ready && failures < failureThreshold);
    if (now !== ready) {
      ready = now;
      options.change({ ready });
      if (!ready) unhealthy(options, 'Readiness', detail);
    }
    await clock.sleep(ready ? 1000 * periodSeconds : OFTEN_MS, over);
  }
}

async function watchLife(options: WatchOptions, probe: Probe): Promise<void> {
  const { clock, over } = options;
  const { initialDelaySeconds = 0, periodSeconds = 10, failureThreshold = 3 } = probe;
  await clock.sleep(1000 * initialDelaySeconds, over);
  for (let failures = 0; !over.aborted; ) {
    const { passed, detail } = await askProbe(probe, options.spec, options.probes);
    if (over.aborted) return;
    failures = passed ? 0 : failures + 1;
    if (failures >= failureThreshold) {
      await killFailed(options, 'Liveness', detail);
      return;
    }
    await clock.sleep(1000 * periodSeconds, over);
  }
}

async function killFailed(options: WatchOptions, kind: string, detail: string): Promise<void> {
  if (options.over.aborted) return;
  unhealthy(options, kind, detail);
  const message = `Container ${options.spec.name} failed ${kind.toLowerCase()} probe, will be restarted`;
  options.record({ type: 'Normal', reason: 'Killing', message });
  await options.kill();
}

function unhealthy({ record }: WatchOptions, kind: string, detail: string): void {
  record({ type: 'Warning', reason: 'Unhealthy', message: `${kind} probe failed: ${detail}` });
}

// A reconciler as a new process has it: connected to an API server, and with no memory of what others did. What Git says is
// given to it as files.

import { randomBytes } from 'node:crypto';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { Clock, Repository } from '#reconciler/run/ports.ts';
import { storeApproval } from '#reconciler/run/records/approval.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { planOnly, type RunDeps, type RunOptions, reconcile } from '#reconciler/run/run.ts';
import { sha256 } from '#std/hash.ts';
import { optionsOf } from '../../harness/world.ts';

export interface Process {
  run(overrides?: Partial<RunOptions>): Promise<RunResult>;
  plan(overrides?: Partial<RunOptions>): Promise<RunResult>;
  /** What waits beyond the limits may go, as a person says who has seen it. */
  approve(overrides: Partial<RunOptions>): Promise<void>;
  close(): Promise<void>;
}

export interface ProcessOptions {
  readonly kubeconfig: string;
  /** One file in one commit; absent: there is no source. */
  readonly manifests?: string;
  readonly concurrency: number;
  readonly clock?: Clock;
}

export const HOME = { instance: 'test', homeNamespace: 'default' };

export async function newProcess(settings: ProcessOptions): Promise<Process> {
  const { kubeconfig, concurrency, clock = systemClock } = settings;
  // Whatever waits beside a run is its lease: a request that is asked again does not.
  const inRequests = { ...clock, sleep: (ms: number) => clock.sleep(ms) };
  const options = { fieldManager: 'skep-test', concurrency, version: 'test', clock: inRequests };
  const client = await connectCluster({ kubeconfig, ...options });
  const deps: RunDeps = {
    cluster: client,
    clock,
    sources:
      settings.manifests === undefined
        ? []
        : [{ name: 'fleet', repository: repositoryOf(settings.manifests), path: '' }],
    cache: new Map(),
    remembered: new Map(),
    random: randomBytes,
    digestKey: openDigestKey(client, 'test', 'default'),
    progress: () => undefined,
  };
  const chosen = (overrides: Partial<RunOptions> = {}) => optionsOf({ waitSeconds: 0, ...overrides });
  return {
    run: (overrides) => reconcile(deps, chosen(overrides)),
    plan: (overrides) => planOnly(deps, chosen(overrides)),
    async approve(overrides) {
      const [list] = (await planOnly(deps, chosen(overrides))).plan.waiting;
      if (list === undefined) throw new Error('nothing waits');
      await storeApproval(deps, HOME, list, '2999-01-01T00:00:00Z');
    },
    close: () => client.close(),
  };
}

function repositoryOf(text: string): Repository {
  const oid = sha256(text);
  const read = async () => new Map([[oid, Buffer.from(text)]]);
  const fetch = async () => ({ commit: oid, files: [{ path: 'fleet.yaml', oid }], skipped: [], read });
  return { fetch, at: fetch, ancestors: async () => [] };
}

/** Ten times the time passes at once for whoever waits for it, but for what runs beside: the renewing of a lease. */
export function hurriedClock(renewEveryMs?: number): Clock {
  let skipped = 0;
  return {
    now: () => Date.now() + skipped,
    monotonic: () => performance.now() + skipped,
    sleep: async (ms, signal) => {
      if (signal !== undefined) return systemClock.sleep(renewEveryMs ?? ms, signal);
      skipped += 10 * ms;
    },
  };
}

// Writes the health of a virtual server's backends into its status in the cluster (contracts/vmcp-config.ts).

import type { Logger } from 'pino';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { backendStatuses, type ReportedMember } from '#gateway/virtual-server/health/cluster-status.ts';
import { parseDuration } from '#std/duration.ts';
import type { Environment } from '#std/environment.ts';
import { isObject } from '#std/json.ts';
import { systemClock } from '../clock.ts';
import { proxyClock } from '../proxy/clock.ts';
import { VERSION } from '../version.ts';

export interface StatusOptions {
  readonly config: VmcpConfig;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly members: () => readonly ReportedMember[];
}

export interface StatusReport {
  /** Requests a report after the health of a backend has changed. */
  changed(): void;
  /** Uses the interval of a new configuration. */
  replace(config: VmcpConfig): void;
  stop(): Promise<void>;
}

/** Delay before a report. Changes during this time are reported together. */
const SOON_MS = 1000;
const KIND = 'VirtualMCPServer';

/** Returns undefined if the environment does not name the VirtualMCPServer, as outside of a cluster. */
export function openStatusReport(options: StatusOptions): StatusReport | undefined {
  const { environment, logger } = options;
  const { [VMCP_ENV.name]: name, [VMCP_ENV.namespace]: namespace } = environment;
  if (name === undefined || namespace === undefined) return undefined;
  const cluster = connectCluster({
    usual: environment.KUBECONFIG,
    fieldManager: 'skep-vmcp',
    concurrency: 2,
    version: VERSION,
    clock: systemClock,
    timeoutMs: 10_000,
  });
  let intervalMs = intervalOf(options.config);
  let stopTimer: () => void = () => undefined;
  let reporting: Promise<void> | undefined;
  let stopped = false;
  let reported = '';

  async function write(): Promise<void> {
    const client = await cluster;
    const apiVersion = (await client.resources()).find(({ kind }) => kind === KIND)?.apiVersion;
    if (apiVersion === undefined) return report(`the cluster has no ${KIND}`);
    const id = { apiVersion, kind: KIND, namespace, name: name ?? '' };
    const live = await client.get(id);
    if (live === undefined) return report(`there is no ${KIND} ${namespace}/${name}`);
    const written = isObject(live.status) ? live.status.discoveredBackends : undefined;
    const status = { discoveredBackends: [...backendStatuses(options.members(), written)] };
    const metadata = { name: id.name, namespace };
    await client.apply({ apiVersion, kind: KIND, metadata, status }, { subresource: 'status', force: true });
    report('');
  }

  /** Logs a message unless it is equal to the last message. */
  function report(message: string): void {
    if (message !== '' && message !== reported)
      logger.warn({ code: 'vmcp-status-unwritten', message }, 'status is not reported');
    reported = message;
  }

  function next(ms: number): void {
    stopTimer();
    if (!stopped) stopTimer = proxyClock.after(ms, run);
  }

  function run(): void {
    reporting = write()
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)))
      .finally(() => next(intervalMs));
  }

  next(SOON_MS);
  return {
    changed: () => next(SOON_MS),
    replace(config) {
      intervalMs = intervalOf(config);
    },
    async stop() {
      stopped = true;
      stopTimer();
      await reporting;
      await (await cluster).close();
    },
  };
}

function intervalOf({ operational }: VmcpConfig): number {
  return Math.max(1000, parseDuration(operational.failureHandling.statusReportingInterval) ?? 0);
}

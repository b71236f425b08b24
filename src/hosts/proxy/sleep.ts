// Opens a server that sleeps while no client uses it, as the configuration of its proxy says.

import type { Logger } from 'pino';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import { createSleepingBackend, type SleepingBackend } from '#gateway/backends/sleep/backend.ts';
import type { SleepParts } from '#gateway/backends/sleep/ports.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { addSleepMetrics } from '#gateway/proxy/records/sleep-metrics.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../clock.ts';
import { proxyClock } from './clock.ts';

export interface SleepOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly metrics: ProxyMetrics;
}

/** Returns undefined if the server always runs. */
export async function openSleeping(
  { config, environment, logger, metrics }: SleepOptions,
  open: () => Promise<Backend>,
): Promise<SleepingBackend | undefined> {
  const { sleep, namespace, name, attach } = config;
  if (sleep === undefined) return undefined;
  const [{ createServerScale }, { createPods }, { openCredentials }] = await Promise.all([
    import('#adapters/attach/scale.ts'),
    import('#adapters/attach/attach.ts'),
    import('#adapters/cluster/credentials.ts'),
  ]);
  const credentials = await openCredentials({ usual: environment.KUBECONFIG, clock: systemClock });
  const cluster = { server: credentials.server, credentials: credentials.current };
  const scale = createServerScale({
    ...{ ...cluster, namespace, statefulSet: sleep.stateful_set, deployment: sleep.deployment },
  });
  const pods = attach && createPods({ ...cluster, ...attach, pod: () => attach.pod, clock: proxyClock });
  const isAsleep = await isStopped(scale, logger);
  const parts: SleepParts = {
    ...{ open, scale, clock: proxyClock },
    check: pods && (() => pods.check(0)),
    observer: {
      ...addSleepMetrics(metrics.metrics, name, isAsleep),
      log: (level, message) => logger[level]({ part: 'sleep' }, message),
    },
    times: { afterMs: sleep.after_seconds * 1000, wakeMs: sleep.wake_seconds * 1000 },
  };
  return createSleepingBackend(parts, isAsleep ? undefined : await open());
}

/** Returns false if the cluster does not respond. The first health check then reads the state again. */
async function isStopped(scale: SleepParts['scale'], logger: Logger): Promise<boolean> {
  try {
    return (await scale.read()).declared === 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    logger.warn({ code: error.code }, `it is not known whether the MCP server sleeps: ${error.message}`);
    return false;
  }
}

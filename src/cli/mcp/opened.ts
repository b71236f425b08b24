// Opens an instance for one call, and closes it when the call ends or is cancelled.

import type { Config } from '#hosts/config/config.ts';
import { type Instance, openForOperator } from '#hosts/reconciler/instance/instance.ts';
import { useOpened } from '#hosts/reconciler/operator/opened.ts';
import { openForPlan } from '#hosts/reconciler/operator/plan.ts';

/** Opens an instance for reading records and lists, with the timeout `cluster.timeoutSeconds`. */
export function withInstance<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForOperator(config), use, signal);
}

/** Opens an instance for planning, with the settings of a sync. */
export function withPlanner<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForPlan(config), use, signal);
}

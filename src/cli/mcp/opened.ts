// Opens an instance for one call, and closes it when the call ends or is given up.

import type { Config } from '#hosts/config/config.ts';
import { type Instance, openForOperator } from '#hosts/reconciler/instance/instance.ts';
import { openForPlan } from '#hosts/reconciler/operator/plan.ts';

/** For calls that only read records and lists (`cluster.timeoutSeconds`). */
export function withInstance<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForOperator(config), signal, use);
}

/** For calls that plan as a sync would. */
export function withPlanner<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForPlan(config), signal, use);
}

/** If the call is given up, its requests end with the instance. */
export async function useOpened<T>(
  opening: Promise<Instance>,
  signal: AbortSignal,
  use: (instance: Instance) => Promise<T>,
): Promise<T> {
  const instance = await opening;
  try {
    signal.throwIfAborted();
    return await use(instance);
  } finally {
    await instance.close();
  }
}

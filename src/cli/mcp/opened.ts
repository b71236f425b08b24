// Opens an instance for one call, and closes it when the call ends or is cancelled.

import type { Config } from '#hosts/config/config.ts';
import { type Instance, openForOperator } from '#hosts/reconciler/instance/instance.ts';
import { openForPlan } from '#hosts/reconciler/operator/plan.ts';

/** Opens an instance for reading records and lists, with the timeout `cluster.timeoutSeconds`. */
export function withInstance<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForOperator(config), use, signal);
}

/** Opens an instance for planning, with the settings of a sync. */
export function withPlanner<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForPlan(config), use, signal);
}

/** Uses an instance and closes it. If the signal aborts, closes the instance at once and cancels its requests. */
export async function useOpened<T>(
  opening: Promise<Instance>,
  use: (instance: Instance) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const instance = await opening;
  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= instance.close();
    return closing;
  }
  // The error of `close` is ignored here: `close` is called again below, where its error is thrown.
  const giveUp = () => void close().catch(() => undefined);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    signal?.throwIfAborted();
    return await use(instance);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await close();
  }
}

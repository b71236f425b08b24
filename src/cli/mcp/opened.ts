// Opens an instance for one call, and closes it when the call ends or is given up.

import type { Config } from '#hosts/config/config.ts';
import { type Instance, openForOperator } from '#hosts/reconciler/instance/instance.ts';
import { openForPlan } from '#hosts/reconciler/operator/plan.ts';

/** For calls that read records and lists (`cluster.timeoutSeconds`). */
export function withInstance<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForOperator(config), use, signal);
}

/** For calls that plan as a sync would. */
export function withPlanner<T>(config: Config, signal: AbortSignal, use: (instance: Instance) => Promise<T>) {
  return useOpened(openForPlan(config), use, signal);
}

/** If the signal is given and aborted, requests in flight end with the instance. */
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
  // The call reports why it was given up, and awaits the same closing below.
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

// Opens an instance for one action or call, and closes the instance when the action or call ends or is aborted.

import type { Instance } from '../instance/instance.ts';

/** If `signal` is aborted, closes the instance, which ends requests in flight. */
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
  // The call reports why it was aborted, and awaits the same closing below.
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

// Follows the runs of the process: requests the fleet again when its state has changed, and connects again after a
// break.

import type { Api } from './api.ts';

export interface Live {
  readonly connected: boolean;
  /** True while a run is under way. */
  readonly running: boolean;
}

const RETRY_MS = 3000;
/** Time in which several events lead to one request. */
const GATHER_MS = 150;

/**
 * Follows the runs until the returned function is called. A hidden page closes its stream: browsers open only six
 * connections to one host, and six tabs that follow would leave none for anything else.
 */
export function followRuns(api: Api, load: () => Promise<boolean>, tell: (live: Live) => void): () => void {
  const over = new AbortController();
  let stream = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;

  function onEvent(event: string): void {
    if (event === 'began') running = true;
    if (event === 'ended') running = false;
    tell({ connected: true, running });
    if (event !== 'fleet') return;
    clearTimeout(timer);
    timer = setTimeout(() => void load(), GATHER_MS);
  }

  /** Resolves to true if the stream was open. */
  async function followOnce(): Promise<boolean> {
    let wasOpen = false;
    const onOpen = (): void => {
      wasOpen = true;
      tell({ connected: true, running });
      // Events before this moment were lost.
      void load();
    };
    stream = new AbortController();
    const signal = AbortSignal.any([over.signal, stream.signal]);
    await api.follow({ onOpen, onEvent }, signal).catch(() => undefined);
    running = false;
    return wasOpen;
  }

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      await untilVisible(over.signal);
      const wasOpen = await followOnce();
      if (over.signal.aborted) return;
      if (document.hidden) continue;
      tell({ connected: false, running });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (!wasOpen && !over.signal.aborted) await load();
    }
  }
  document.addEventListener('visibilitychange', () => document.hidden && stream.abort(), { signal: over.signal });
  void follow();
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}

/** Resolves when someone can see the page. */
async function untilVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted)
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true });
      signal.addEventListener('abort', resolve, { once: true });
    });
}

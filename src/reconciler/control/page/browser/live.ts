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

/** Follows the runs until the returned function is called. */
export function followRuns(api: Api, load: () => Promise<boolean>, tell: (live: Live) => void): () => void {
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;

  function heard(event: string): void {
    if (event === 'began') running = true;
    if (event === 'ended') running = false;
    tell({ connected: true, running });
    if (event !== 'fleet') return;
    clearTimeout(timer);
    timer = setTimeout(() => void load(), GATHER_MS);
  }

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      tell({ connected: true, running });
      await api.follow(heard, over.signal).catch(() => undefined);
      if (over.signal.aborted) return;
      running = false;
      tell({ connected: false, running });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      // Events during the break were lost.
      if (!over.signal.aborted) await load();
    }
  }
  void follow();
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}

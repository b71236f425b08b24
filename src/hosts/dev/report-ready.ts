// Reports when a server on this machine becomes ready, and when it stops being ready.

import type { RunningServer } from '#contracts/running-servers.ts';
import { systemClock } from '../clock.ts';

const LOOK_MS = 500;

/** Returns a function that ends the reports. */
export function reportReady(
  running: () => Promise<readonly RunningServer[]>,
  say: (text: string) => void,
): () => Promise<void> {
  const over = new AbortController();
  const known = new Map<string, boolean>();

  function report({ namespace, name, url, ready }: RunningServer): void {
    const before = known.get(url) ?? false;
    known.set(url, ready);
    if (ready === before) return;
    say(ready ? `${namespace}/${name} answers at ${url}` : `${namespace}/${name} no longer answers`);
  }

  async function look(): Promise<void> {
    while (!over.signal.aborted) {
      // If the cluster is busy, the next reading reports the change.
      const servers = await running().catch(() => []);
      for (const server of servers) report(server);
      await systemClock.sleep(LOOK_MS, over.signal);
    }
  }

  const done = look();
  return async () => {
    over.abort();
    await done;
  };
}

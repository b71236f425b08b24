// Says when a server that runs on this machine gets ready, and when it is not any more.

import type { RunningServer } from '#contracts/running-servers.ts';
import { systemClock } from '../clock.ts';

const LOOK_MS = 500;

/** Answers the function that ends it. */
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
    say(ready ? `${namespace}/${name} answers at ${url}` : `${namespace}/${name} does not answer any more`);
  }

  async function look(): Promise<void> {
    while (!over.signal.aborted) {
      // The cluster may be busy: the next look says what this one could not.
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

// Reads the lists of a server with a tools lock at intervals, so that differences are reported even without clients.

import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import { authorizeAs } from '#gateway/credentials/authorize.ts';
import type { Credential } from '#gateway/credentials/credential.ts';
import type { LockKeeper } from '#gateway/gate/tools-lock/keeper.ts';
import type { Lock } from '#gateway/gate/tools-lock/lock.ts';
import { readLists } from '#gateway/virtual-server/catalogue/lists.ts';
import type { FilteredKey } from '#gateway/wire/methods.ts';
import { proxyClock } from './clock.ts';

export interface LockReadingParts {
  readonly backend: Backend;
  /** Returns false while the server sleeps: a reading does not start the server. If not set, the server always runs. */
  readonly isAwake?: (() => boolean) | undefined;
  readonly messageBytes: number;
  readonly keeper: () => LockKeeper | undefined;
  readonly credential: () => Credential | undefined;
}

const LOOK_MS = 1000;
const EVERY_MS = 30_000;
const TIMEOUT_MS = 30_000;
/** Scope of the lists that the proxy itself reads. Lists that clients read have other scopes. */
const OWN_SCOPE = 'the proxy itself';

/**
 * Starts to read the lists at intervals, and returns a function that ends this. If a server shows its lists only to
 * known callers, only callers' requests read the lists.
 */
export function readNowAndThen(parts: LockReadingParts): () => void {
  let read: LockKeeper | undefined;
  let readAt = 0;
  let isReading = false;
  return proxyClock.every(LOOK_MS, () => {
    const keeper = parts.keeper();
    const now = proxyClock.monotonic();
    // Reads at once if the lock has changed, and otherwise every EVERY_MS.
    if (
      parts.isAwake?.() === false ||
      isReading ||
      keeper === undefined ||
      (keeper === read && now - readAt < EVERY_MS)
    )
      return;
    [read, readAt, isReading] = [keeper, now, true];
    void readOnce(parts, keeper).finally(() => {
      isReading = false;
    });
  });
}

async function readOnce({ backend, messageBytes, credential }: LockReadingParts, keeper: LockKeeper): Promise<void> {
  const rights = credential();
  if (rights === undefined) return;
  const readings = new Map(
    LOCKED_LIST_NAMES.map((list) => [list as FilteredKey, keeper.beginReading(list, OWN_SCOPE)]),
  );
  // Compares complete definitions, before other rules change them.
  const watching: Lock = {
    mode: 'report',
    names: () => undefined,
    compare(list, name, definition) {
      keeper.decide(list, name, definition, readings.get(list));
      return 'agrees';
    },
  };
  const asking = { backend, clock: proxyClock, timeoutMs: TIMEOUT_MS, maxBytes: messageBytes };
  const authorize = authorizeAs(rights, { key: '', claims: {} });
  const cause = { headers: { 'accept-encoding': 'identity' }, path: '/', caller: '', authorize };
  const read = await readLists(asking, cause, watching);
  for (const reading of readings.values()) {
    // An empty list is not evaluated, because a server may show an empty list to unknown callers.
    if (read.ok && !reading.isEmpty) reading.end();
    else if (!read.ok) reading.fail();
  }
}

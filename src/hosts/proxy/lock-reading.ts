// Reads the lists of a locked server regularly without a client, so that differences are known before a client asks.

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
  /** Returns false while the server sleeps, which is not started for a reading. If absent, it always runs. */
  readonly isAwake?: (() => boolean) | undefined;
  readonly messageBytes: number;
  readonly keeper: () => LockKeeper | undefined;
  readonly credential: () => Credential | undefined;
}

const LOOK_MS = 1000;
const EVERY_MS = 30_000;
const TIMEOUT_MS = 30_000;
/** Scope of these readings, which belong to no client. */
const OWN_SCOPE = 'the proxy itself';

/**
 * Returns the function that ends the readings. If a server shows its lists only to known callers, the proxy reads the
 * lists when a known caller calls.
 */
export function readNowAndThen(parts: LockReadingParts): () => void {
  let read: LockKeeper | undefined;
  let readAt = 0;
  let isReading = false;
  return proxyClock.every(LOOK_MS, () => {
    const keeper = parts.keeper();
    const now = proxyClock.monotonic();
    // A result that was read under another lock has no meaning.
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
  // The lock compares the complete bytes, before other rules change them.
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
    // A server may show an empty list to a caller that it does not know.
    if (read.ok && !reading.isEmpty) reading.end();
    else if (!read.ok) reading.fail();
  }
}

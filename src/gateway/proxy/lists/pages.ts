// Follows the pages of the server's tool list as clients read them, to know when the whole list was read.

import { setBounded } from '#std/bounded.ts';
import type { KnownTools } from '../../gate/known-tools.ts';
import type { Message } from '../../wire/message.ts';
import { readValue } from '../../wire/scan.ts';
import type { Caller } from '../caller.ts';

export type Pages = ReturnType<typeof createPages>;

/** One page of the server's tool list. */
export interface Page {
  /** Notes that the proxy has read the page. `next` is the cursor of the next page. */
  learned(next: string | undefined): void;
  /** Notes that the server has changed the list. */
  stale(): void;
}

/**
 * Maximum number of remembered cursors. The oldest cursors are dropped, because clients do not read every list to its
 * end.
 */
const CURSORS_MAX = 1000;

/** Marks `known` as complete once a client has read the list from its first page to its last. */
export function createPages(known: KnownTools) {
  const following = new Map<string, true>();
  return {
    pageOf(caller: Caller, message: Message | undefined, body: Buffer | undefined): Page {
      const cursor = cursorOf(message, body);
      const keyOf = (text: string) => JSON.stringify([caller.key, text]);
      return {
        learned(next) {
          const follows = cursor === undefined || (cursor !== UNKNOWN && following.delete(keyOf(cursor)));
          if (!follows) return;
          if (next === undefined) known.markComplete();
          else setBounded(following, keyOf(next), true, CURSORS_MAX);
        },
        stale() {
          following.clear();
          known.markStale();
        },
      };
    },
  };
}

/** Marks an answer for which the requested page is unknown, such as a message on a stream. */
const UNKNOWN = Symbol('some page');

/** Returns the requested cursor. undefined means the first page. */
function cursorOf(message: Message | undefined, body: Buffer | undefined): string | undefined | typeof UNKNOWN {
  if (message?.kind !== 'request' || body === undefined) return UNKNOWN;
  if (message.cursor === undefined) return undefined;
  const cursor = readValue(body, message.cursor);
  return typeof cursor === 'string' ? cursor : UNKNOWN;
}

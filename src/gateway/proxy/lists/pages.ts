// Follows the pages of the server's list of tools as they pass, to know when a list was read completely.

import { setBounded } from '#std/bounded.ts';
import type { KnownTools } from '../../gate/known-tools.ts';
import type { Message } from '../../wire/message.ts';
import { readValue } from '../../wire/scan.ts';
import type { Caller } from '../caller.ts';

export type Pages = ReturnType<typeof createPages>;

/** A page of the server's tools on its way to a client. */
export interface Page {
  /** Notes that the page was learned. `next` is the cursor of the next page. */
  learned(next: string | undefined): void;
  /** Notes that the list has changed. */
  stale(): void;
}

/** Maximum number of remembered cursors; cursors of abandoned lists are replaced. */
const CURSORS_MAX = 1000;

/** Follows the pages. The tools are known once a client has read their list from its first page to its last. */
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

/** If an answer comes on a stream, the requested page is unknown. */
const UNKNOWN = Symbol('some page');

/** Returns the requested cursor, or undefined for the first page. */
function cursorOf(message: Message | undefined, body: Buffer | undefined): string | undefined | typeof UNKNOWN {
  if (message?.kind !== 'request' || body === undefined) return UNKNOWN;
  if (message.cursor === undefined) return undefined;
  const cursor = readValue(body, message.cursor);
  return typeof cursor === 'string' ? cursor : UNKNOWN;
}

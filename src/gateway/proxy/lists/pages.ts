// Follows the pages of the server's list of tools as they pass, so that it is known when a list was read to its end.

import { setBounded } from '#std/bounded.ts';
import type { KnownTools } from '../../gate/known-tools.ts';
import type { Message } from '../../wire/message.ts';
import { readValue } from '../../wire/scan.ts';
import type { Caller } from '../caller.ts';

export type Pages = ReturnType<typeof createPages>;

/** A page of the server's tools on its way to a client. */
export interface Page {
  /** It has been learned; `next` is the cursor of the one that follows. */
  learned(next: string | undefined): void;
  /** The list has changed. */
  stale(): void;
}

/** Cursors that are remembered; those of lists that no one reads on make room. */
const CURSORS_MAX = 1000;

/** Tools are known once someone has read their list from its first page to its last. */
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

/** If an answer comes on a stream, the page that was asked for is not known. */
const UNKNOWN = Symbol('some page');

/** Undefined for the first page. */
function cursorOf(message: Message | undefined, body: Buffer | undefined): string | undefined | typeof UNKNOWN {
  if (message?.kind !== 'request' || body === undefined) return UNKNOWN;
  if (message.cursor === undefined) return undefined;
  const cursor = readValue(body, message.cursor);
  return typeof cursor === 'string' ? cursor : UNKNOWN;
}

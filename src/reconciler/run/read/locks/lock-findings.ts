// Finds faults in a tool lock that its schema does not cover, and texts in its definitions that need a reviewer's
// attention.

import { readDefinition } from '#contracts/tool-lock/digest.ts';
import { doubtfulReason } from '#contracts/tool-lock/doubtful.ts';
import { heldLock } from '#contracts/tool-lock/held.ts';
import {
  definitionName,
  LOCKED_LIST_NAMES,
  LOCKED_LISTS,
  type LockedList,
  type ToolLock,
} from '#contracts/tool-lock/schema.ts';
import { lockBytes, SHARD_BYTES_MAX, SHARDS_MAX } from '#contracts/tool-lock/shards.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';

/** Returns the findings. The lock must fit its schema. */
export function lockFindings({ spec }: JsonObject): readonly Finding[] {
  if (!isObject(spec)) return [];
  const fits: unknown = spec;
  const lock = fits as ToolLock;
  const bytes = lockBytes(heldLock('enforce', lock));
  // The configuration of a virtual server contains the locks of all its members. So the lock of a member that is an
  // MCPServerEntry must fit into one part.
  const parts = lock.server.kind === 'MCPServerEntry' ? 1 : SHARDS_MAX;
  // Parts are never filled completely. One part is reserved for the unused space.
  const room = parts === 1 ? SHARD_BYTES_MAX : (parts - 1) * SHARD_BYTES_MAX;
  if (bytes > room) {
    const message = `the names and digests of the lock come to ${bytes} bytes, and there is room for ${room}: split the server`;
    return [{ code: 'lock-too-large', severity: 'error', pointer: '/spec', message }];
  }
  return LOCKED_LIST_NAMES.flatMap((list) => listFindings(list, objectsIn(spec[list])));
}

function listFindings(list: LockedList, definitions: readonly JsonObject[]): readonly Finding[] {
  const first = new Map<string, number>();
  return definitions.flatMap((definition, index): readonly Finding[] => {
    const pointer = `/spec/${list}/${index}`;
    const name = definitionName(list, definition) ?? '';
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else {
      const message = `spec.${list} has "${name}" already, as entry ${earlier}: remove one of the two`;
      return [{ code: 'lock-name-twice', severity: 'error', pointer: `${pointer}/${LOCKED_LISTS[list]}`, message }];
    }
    if (readDefinition(Buffer.from(JSON.stringify(definition))) === undefined) {
      const message = `the definition of "${name}" has a value that no server can send in this way: write it again with skep lock`;
      return [{ code: 'lock-definition-unreadable', severity: 'error', pointer, message }];
    }
    const why = doubtfulReason(definition);
    if (why === undefined) return [];
    const message = `look at the definition of "${name}" before you accept it: ${why}`;
    return [{ code: 'lock-text-doubtful', severity: 'warning', pointer, message }];
  });
}

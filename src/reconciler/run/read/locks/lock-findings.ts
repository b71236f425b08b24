// Finds faults in the definitions of a lock of tools, beyond its schema, and texts in them that a reviewer should look
// at.

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
import type { Finding } from '#kubernetes/rules/finding.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';

/** A ConfigMap holds 1 MiB, and a configuration says more than this. */
const CHARACTERS_MAX = 800_000;

/** `lock`: fits the schema. */
export function lockFindings({ spec }: JsonObject): readonly Finding[] {
  if (!isObject(spec)) return [];
  const fits: unknown = spec;
  const { length } = JSON.stringify(heldLock('enforce', fits as ToolLock));
  if (length > CHARACTERS_MAX) {
    const message = `the names and digests of the lock come to ${length} characters, and a configuration has room for ${CHARACTERS_MAX}: split the server`;
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

// Lets an update keep what was wrong before: findings about parts that did not change are dropped. Knows nothing about
// what is wrong.
// Source: CustomResourceDefinitions, "Validation ratcheting".

import { isObject, type Json, jsonEquals, pointerTokens } from '../../std/json.ts';
import type { Finding } from '../finding.ts';

export function ratchet(findings: readonly Finding[], value: Json, old: Json): Finding[] {
  return findings.filter(({ pointer }) => !unchanged(value, old, pointer));
}

/** True where the part, or one that holds it, is what it was. Entries of lists cannot be told again. */
function unchanged(value: Json, old: Json, pointer: string): boolean {
  let [now, before]: [Json, Json] = [value, old];
  for (const token of pointerTokens(pointer)) {
    if (jsonEquals(now, before)) return true;
    if (!isObject(now) || !isObject(before)) return false;
    const [next, earlier] = [now[token], before[token]];
    if (next === undefined || earlier === undefined) return false;
    [now, before] = [next, earlier];
  }
  return jsonEquals(now, before);
}

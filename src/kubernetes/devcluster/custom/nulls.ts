// Finds nulls in an applied custom resource that its schema does not allow. A create or replace drops such nulls, but
// an apply is refused.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Finding } from '../../rules/finding.ts';
import type { Cause } from '../api/status.ts';
import { causesOf } from './causes.ts';
import { schemaAt } from './schema-at.ts';

/**
 * Returns causes for the nulls that are not allowed. `stored` is the object after the merge, which lacks these nulls.
 */
export function refusedNulls(schema: JsonObject, applied: JsonObject, stored: JsonObject): Cause[] {
  const pointers = droppedNulls(applied, stored, '');
  const findings = pointers.flatMap((pointer) => {
    const isChoice = schemaAt(schema, pointer)?.enum !== undefined;
    return [finding('schema-type', pointer), ...(isChoice ? [finding('schema-enum', pointer)] : [])];
  });
  return findings.length === 0 ? [] : causesOf({ schema, object: applied }, findings);
}

function finding(code: 'schema-type' | 'schema-enum', pointer: string): Finding {
  return { code, severity: 'error', pointer, message: 'null is not allowed here' };
}

/**
 * Returns pointers of nulls in maps that `stored` lacks. Lists are skipped, because their items are merged by key and
 * the schema check covers them.
 */
function droppedNulls(applied: JsonObject, stored: JsonObject, pointer: string): string[] {
  return Object.entries(applied).flatMap(([key, value]) => {
    const below = `${pointer}/${pointerToken(key)}`;
    if (below === '/metadata' || below === '/status') return [];
    const kept: Json | undefined = stored[key];
    if (value === null) return kept === undefined ? [below] : [];
    return isObject(value) && isObject(kept) ? droppedNulls(value, kept, below) : [];
  });
}

// Every pattern in the schemas of kinds, skep.yaml and registry.yaml has words, so that no one has to read a regular expression.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { structuralSchema } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { EXPLAINED_PATTERNS } from '#std/schema/pattern-meanings.ts';

function patternsIn(schema: Json): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(patternsIn);
  if (!isObject(schema)) return [];
  const { pattern, ...others } = schema;
  const below = Object.values(others).flatMap((each = null) => patternsIn(each));
  return typeof pattern === 'string'
    ? [pattern, ...below]
    : pattern === undefined
      ? below
      : [...below, ...patternsIn(pattern)];
}

/** Authors do not write the status. */
function specOf(schema: JsonObject): Json {
  const { properties } = schema;
  return isObject(properties) ? (properties.spec ?? null) : null;
}

const FILES = ['skep', 'registry'].map((name): Json => {
  const file = fileURLToPath(new URL(`../../../docs/schemas/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8'));
});

test('each has words, and no words are left over', () => {
  const all = [...KINDS.map((kind) => specOf(structuralSchema(kind))), ...FILES].flatMap(patternsIn);
  expect([...EXPLAINED_PATTERNS.keys()].sort()).toEqual([...new Set(all)].sort());
});

// Our definitions and those of the existing platform (v0.44.0) differ only if a table gives the reason: docs/migrating.md for
// fields that are refused, `differences.ts` for everything else. A row without a difference is an error.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { REFUSED_NAMES, refusedFieldAdvice } from '#reconciler/kinds/refused-fields.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { definitionDifferences, fieldPlaces } from './compare.ts';
import { DIFFERENCES } from './differences.ts';
import { readRefusedFields } from './refused-fields.ts';

const THEIRS = fileURLToPath(new URL('../../../../shared/data/toolhive-crds/', import.meta.url));

const refused = readRefusedFields();
const ours = new Map(KINDS.map((kind) => [kind.kind, asJson(crd(kind, 'toolhive.stacklok.dev'))]));

test('every difference from the definitions of the existing platform has a reason', ({ skip }) => {
  if (!existsSync(THEIRS)) skip(`fourteen definitions are not compared, because ${THEIRS} does not exist`);
  const differences = readDefinitions(THEIRS).flatMap((theirs) => {
    const kind = kindOf(theirs);
    const own = ours.get(kind);
    return own === undefined ? [`${kind} missing`] : definitionDifferences(theirs, own);
  });
  const patterns = [
    ...refused.flatMap(({ fields }) => fields.map((field) => `${field} missing`)),
    ...DIFFERENCES.flatMap(({ of }) => of),
  ];
  const used = new Set<string>();
  const unexplained = differences.filter((difference) => {
    const pattern = patterns.find((each) => matches(each, difference));
    if (pattern !== undefined) used.add(pattern);
    return pattern === undefined;
  });
  expect(unexplained).toEqual([]);
  expect(patterns.filter((pattern) => !used.has(pattern))).toEqual([]);
});

test('no field that the page calls refused is in our definitions', () => {
  const places = [...ours.values()].flatMap(fieldPlaces);
  const fields = refused.flatMap((row) => row.fields);
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => places.some((place) => matches(field, place)))).toEqual([]);
});

test('each field that has a message of its own is one that the page calls refused', () => {
  const names = refused.flatMap((row) => row.fields).map((field) => field.split('.').at(-1));
  expect(REFUSED_NAMES.filter((name) => !names.includes(name))).toEqual([]);
  expect(refusedFieldAdvice('/spec/config/codeMode')).toContain('docs/migrating.md');
  expect(refusedFieldAdvice('/spec/volumes/0')).toBeUndefined();
});

/** Whether a text fits a pattern in which `*` is any text. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function readDefinitions(folder: string): readonly JsonObject[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  assert(files.length > 0, `${folder} has no definitions`);
  return files.map((name): JsonObject => parse(readFileSync(`${folder}${name}`, 'utf8')));
}

/** The definition as an API server gets it: without values that are undefined. */
function asJson(definition: object): JsonObject {
  return JSON.parse(JSON.stringify(definition));
}

function kindOf({ spec }: JsonObject): string {
  assert(isObject(spec) && isObject(spec.names));
  return String(spec.names.kind);
}

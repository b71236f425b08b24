// What would break with a release is reported by its place and its reason, and what would not is let pass.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { definitionsIn, recordedReleases } from '../../test/upgrade/recorded.ts';
import { incompatibilities } from './compatibility.ts';
import { DELIBERATE, releaseProblems } from './definitions.ts';

const CURRENT = definitionsIn(fileURLToPath(new URL('../../manifests/crds', import.meta.url)));

const FIELDS: JsonObject = {
  name: { type: 'string', maxLength: 20, minLength: 2, pattern: '^a', default: 'ab' },
  mode: { type: 'string', enum: ['one', 'two'] },
  count: { type: 'integer', minimum: 1, maximum: 9 },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  none: { type: 'string', nullable: true },
  list: { type: 'array', maxItems: 5, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  map: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
};

function definition(fields: JsonObject, more: JsonObject = {}, spec: JsonObject = {}): KubeObject {
  const openAPIV3Schema = { type: 'object', properties: fields, ...more };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema },
  };
  const names = { kind: 'Thing', plural: 'things', singular: 'thing', shortNames: ['th'] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things' },
    spec: { group: 'g', scope: 'Namespaced', names, versions: [version], ...spec },
  };
}

const OLD = definition(FIELDS, { 'x-kubernetes-validations': [{ rule: 'true', message: 'a' }] });

/** The same with one field as it is given. */
const withField = (field: JsonObject) =>
  definition({ ...FIELDS, ...field }, { 'x-kubernetes-validations': [{ rule: 'true', message: 'b' }] });

const without = (name: string) => {
  const { [name]: _gone, ...left } = FIELDS;
  return definition(left);
};

describe.each([
  ['a field that is gone', without('mode'), '/mode: the field is gone'],
  [
    'another type',
    withField({ count: { type: 'string', minimum: 1, maximum: 9 } }),
    '/count: type is "string", was "integer"',
  ],
  [
    'a choice that is gone',
    withField({ mode: { type: 'string', enum: ['one'] } }),
    '/mode: enum has no "two" any more',
  ],
  [
    'choices where there were none',
    withField({ none: { type: 'string', nullable: true, enum: ['a'] } }),
    '/none: enum is new',
  ],
  ['a lower maximum', withField({ count: { type: 'integer', minimum: 1, maximum: 8 } }), '/count: maximum is 8, was 9'],
  [
    'a higher minimum',
    withField({ count: { type: 'integer', minimum: 2, maximum: 9 } }),
    '/count: minimum is 2, was 1',
  ],
  [
    'a bound where there was none',
    withField({ none: { type: 'string', nullable: true, maxLength: 3 } }),
    '/none: maxLength is 3, was none',
  ],
  ['no null any more', withField({ none: { type: 'string' } }), '/none: nullable is gone, was true'],
  [
    'a bound of elements',
    withField({ map: { type: 'object', additionalProperties: { type: 'string', maxLength: 4 } } }),
    '/map/*: maxLength is 4, was 5',
  ],
  [
    'other identity of elements',
    withField({ list: { type: 'array', maxItems: 5, items: { type: 'string' } } }),
    '/list: x-kubernetes-list-type is gone, was "set"',
  ],
  [
    'a pattern',
    withField({ mode: { type: 'string', enum: ['one', 'two'], pattern: 'o' } }),
    '/mode: pattern is "o", was none',
  ],
  [
    'fewer unknown fields',
    withField({ any: { type: 'object' } }),
    '/any: x-kubernetes-preserve-unknown-fields is gone, was true',
  ],
  [
    'a schema where there was none',
    withField({
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    }),
    '/any/a: the field has a schema now',
  ],
  [
    'another default',
    withField({ name: { type: 'string', maxLength: 20, minLength: 2, pattern: '^a', default: 'ac' } }),
    '/name: default is "ac", was "ab"',
  ],
  [
    'a required field',
    definition({ ...FIELDS, more: { type: 'string' } }, { required: ['more'] }),
    ': "more" is required now',
  ],
  [
    'a rule',
    definition(FIELDS, { 'x-kubernetes-validations': [{ rule: 'self.count > 1' }] }),
    ': the rule "self.count > 1" is new',
  ],
  [
    'a bound of what it was before it lost its type',
    withField({
      mode: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['one', 'two'], maxLength: 2 },
    }),
    '/mode: maxLength is 2, was none',
  ],
  [
    'a value of its type that is excluded',
    withField({ mode: { 'x-kubernetes-preserve-unknown-fields': true, not: { enum: ['one'] } } }),
    '/mode: not is {"enum":["one"]}, was none',
  ],
  ['another scope', definition(FIELDS, {}, { scope: 'Cluster' }), 'things: scope is "Cluster", was "Namespaced"'],
  [
    'a short name that is gone',
    definition(FIELDS, {}, { names: { kind: 'Thing', plural: 'things', singular: 'thing' } }),
    'things: the short name "th" is gone',
  ],
  ['a version that is gone', definition(FIELDS, {}, { versions: [] }), 'things v1: the version is gone'],
])('%s', (_reason, after, expected) => {
  test('is told', () => {
    const lines = incompatibilities([OLD], [after]).map(({ where, what }) => `${where}: ${what}`);
    expect(lines).toEqual([expect.stringContaining(expected)]);
  });
});

test('a definition that is gone is told, and a version that is not served', () => {
  expect(incompatibilities([OLD], [])).toEqual([{ where: 'things', what: 'the definition is gone' }]);
  const unserved = structuredClone(OLD) as unknown as {
    spec: { versions: { served: boolean; subresources: object }[] };
  };
  for (const version of unserved.spec.versions) Object.assign(version, { served: false, subresources: {} });
  expect(incompatibilities([OLD], [unserved as unknown as KubeObject]).map(({ what }) => what)).toEqual([
    'the version is not served any more',
    'the subresource status is gone',
  ]);
});

test('what only adds or widens passes', () => {
  const wider = definition(
    {
      ...FIELDS,
      count: { type: 'number', minimum: 0, maximum: 10, nullable: true },
      mode: { type: 'string', enum: ['one', 'two', 'three'], description: 'other words' },
      name: { type: 'string', default: 'ab' },
      more: { type: 'string', default: 'x', maxLength: 1 },
    },
    { required: ['more'] },
  );
  expect(incompatibilities([OLD], [wider, definition({})])).toEqual([]);
});

test('a text that may be an object with a name in its place passes: bounds of other types say nothing about it', () => {
  const named = {
    'x-kubernetes-preserve-unknown-fields': true,
    ...{ minItems: 1, maxItems: 0, minimum: 1, maximum: 0, not: { enum: [true, false] } },
    ...{ required: ['name'], properties: { name: { type: 'string' } }, enum: ['one', 'two'] },
  };
  expect(incompatibilities([OLD], [withField({ mode: named })])).toEqual([]);
});

test('our definitions break with no release, but for what is listed', () => {
  expect(releaseProblems(CURRENT)).toEqual([]);
});

test('a break is to be listed, and what is listed is to be a break', () => {
  const [release] = recordedReleases();
  const { tag = '' } = release ?? {};
  const left = CURRENT.filter(({ metadata }) => !metadata.name.startsWith('mcpgroups.'));
  const where = 'mcpgroups.toolhive.stacklok.dev';
  const listed = { release: tag, where, what: 'the definition is gone', why: 'nobody groups any more' };
  expect(releaseProblems(left)).toEqual([
    `breaks with ${tag}: ${where}: the definition is gone\n  keep it compatible, or list it in scripts/release/deliberate.json with its reason`,
  ]);
  expect(releaseProblems(left, [...DELIBERATE, listed])).toEqual([]);
  expect(releaseProblems(CURRENT, [...DELIBERATE, listed])).toEqual([
    `listed in scripts/release/deliberate.json, but breaks nothing: ${tag}: ${where}: the definition is gone`,
  ]);
});

test('migrations of a release are never changed', () => {
  const folder = fileURLToPath(new URL('../../src/adapters/postgres/migrations', import.meta.url));
  for (const { migrations, rows } of recordedReleases()) {
    for (const { name } of rows.skep_migrations ?? []) {
      const [then, now] = [migrations, folder].map((each) => readFileSync(join(each, String(name)), 'utf8'));
      expect(now).toBe(then);
    }
  }
});

test('every release that users are told of is recorded; the newest is recorded once it was tagged', () => {
  const changelog = readFileSync(fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url)), 'utf8');
  const reported = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, version]) => `v${version}`);
  const recorded = recordedReleases().map(({ tag }) => tag);
  expect(reported).toEqual(expect.arrayContaining(recorded));
  expect(recorded).toEqual(expect.arrayContaining(reported.slice(1)));
});

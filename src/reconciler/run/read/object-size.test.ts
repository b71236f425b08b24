// Tests which objects are too large for every API server.

import { expect, test } from 'vitest';
import { readDocuments } from '#std/yaml/yaml.ts';
import { refuseLarge } from './object-size.ts';

function read(text: string) {
  const [document] = readDocuments(text, 'map.yaml');
  if (document?.value === undefined) throw new Error('no value');
  return refuseLarge({ text }, document, [{ document: 0, pointer: '', value: document.value }]);
}

const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map, namespace: tools, labels: {a: b}}\n';
const IDENTITY = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map', namespace: 'tools' } };

test('an object above 3 MiB as JSON keeps its identity, and its problem states the size', () => {
  const { objects, problems } = read(`${HEAD}data: {value: ${'x'.repeat(3.5 * 1024 * 1024)}}\n`);
  expect(objects).toEqual([{ document: 0, pointer: '', value: IDENTITY, refused: true }]);
  expect(problems).toEqual([
    {
      code: 'object-too-large',
      severity: 'error',
      message: 'The object has 3.5 MiB as JSON, and API servers accept 3: split its content over several objects.',
      pointer: '',
      place: { file: 'map.yaml', line: 1, column: 1 },
    },
  ]);
});

test('aliases count with the size of the values to which they refer', () => {
  const repeated = Array.from({ length: 90 }, (_, place) => `  k${place}: *long\n`).join('');
  const { problems } = read(`${HEAD}data:\n  first: &long ${'x'.repeat(40_000)}\n${repeated}`);
  expect(problems.map(({ code }) => code)).toEqual(['object-too-large']);
});

test('a smaller object is unchanged', () => {
  const { objects, problems } = read(`${HEAD}data: {value: ${'x'.repeat(2.9 * 1024 * 1024)}}\n`);
  expect([problems, objects[0]?.refused]).toEqual([[], undefined]);
});

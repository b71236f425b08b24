// Tests stand-ins of long values. A file that already contains a text like a stand-in is read without stand-ins.

import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import {
  columnBefore,
  describeLongValues,
  isStandIn,
  lastingJson,
  longValuesOf,
  restoreObject,
  shortenObject,
  shortenText,
  standInsOf,
} from './large-values.ts';

const LONG = randomBytes(60_000).toString('base64');
const OTHER = randomBytes(60_001).toString('base64');
const metadata = { name: 'a', namespace: 'b' };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { long: LONG, short: 'aGk=' } };

test('a long value of a Secret is replaced, and restored', () => {
  const short = shortenObject(secret);
  expect(JSON.stringify(short).length).toBeLessThan(400);
  expect(standInsOf(short)).toHaveLength(1);
  expect(short.data).toMatchObject({ short: 'aGk=' });
  expect(restoreObject(short, longValuesOf(secret))).toEqual(secret);
  expect(shortenObject(short)).toBe(short);
});

test.each([
  { reason: 'values are short', object: { ...secret, data: { short: 'aGk=' } } },
  { reason: 'text may be anything', object: { ...secret, kind: 'ConfigMap' } },
  { reason: 'the server would store other characters', object: { ...secret, data: { long: `${LONG}A` } } },
  { reason: 'it is of another group', object: { ...secret, apiVersion: 'example.com/v1' } },
])('an object is unchanged if $reason', ({ object }) => {
  expect(shortenObject(object)).toBe(object);
});

test('bytes of a ConfigMap are replaced', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: LONG }, binaryData: { long: LONG } };
  expect(standInsOf(shortenObject(object))).toHaveLength(1);
  expect(shortenObject(object).data).toBe(object.data);
});

test('different values have different stand-ins', () => {
  const [one] = standInsOf(shortenObject(secret));
  const [other] = standInsOf(shortenObject({ ...secret, data: { long: OTHER } }));
  expect(one).not.toBe(other);
  expect([one, other].every(isStandIn)).toBe(true);
  expect(Buffer.from(one ?? '', 'base64').toString('base64')).toBe(one);
});

test('restoring an unknown stand-in throws', () => {
  expect(() => restoreObject(shortenObject(secret), new Map())).toThrow('the value of a stand-in');
});

test.each([
  { where: 'at the beginning', text: `${LONG}\n`, count: 1 },
  { where: 'in quotes on one line', text: `{"a":"${LONG}","b":"${OTHER}","c":1}\n`, count: 2 },
  { where: 'on lines of their own', text: `a:\n  b: ${LONG}\n  c: ${OTHER}\nd: e\n`, count: 2 },
  { where: 'nowhere', text: `a: ${'word '.repeat(40_000)}\n`, count: 0 },
  { where: 'only as a number', text: `a: ${'1'.repeat(80_000)}\n`, count: 0 },
])('long values of a text are found $where, and columns are converted correctly', ({ text, count }) => {
  const { text: short, cuts, values } = shortenText(text);
  expect(cuts).toHaveLength(count);
  let whole = short;
  for (const [standIn, value] of values) whole = whole.replace(standIn, value);
  expect(whole).toBe(text);
  const lines = text.split('\n');
  for (const [index, line] of short.split('\n').entries()) {
    expect(columnBefore(cuts, index + 1, line.length + 1)).toBe((lines[index] ?? '').length + 1);
    expect(columnBefore(cuts, index + 1, 1)).toBe(1);
  }
});

test('stand-ins differ between processes, but the lasting JSON is equal', async () => {
  vi.resetModules();
  const elsewhere = await import('./large-values.ts');
  const other = elsewhere.shortenObject(secret);
  expect(standInsOf(other)).toEqual([]);
  expect(standInsOf(shortenObject(secret))).toHaveLength(1);
  expect(elsewhere.lastingJson(other)).toBe(lastingJson(shortenObject(secret)));
});

test('messages show the length of a long value', () => {
  const { data = null } = shortenObject(secret);
  expect(describeLongValues(data)).toEqual({
    long: expect.stringMatching(/^\(80000 characters of base64, SHA-256 [0-9a-f]{64}\)$/),
    short: 'aGk=',
  });
});

// The size of results: a plan of 10,000 changes comes in pages, lists and texts are cut and say so, and hidden characters
// are escaped.

import { expect, test } from 'vitest';
import type { RunResult } from '#reconciler/run/result.ts';
import { isObject } from '#std/json.ts';
import { boundedData, ITEMS_MAX, plainLine, plainText, RESULT_BYTES_MAX } from '../../../src/cli/mcp/bounded.ts';
import { data } from '../../../src/cli/mcp/tool.ts';
import { planPage } from '../../../src/cli/mcp/tools/plan.ts';
import { sampleRun } from '../../reconciler/report/sample-run.ts';

const MANY = 10_000;

function largeRun(value: string): RunResult {
  const run = sampleRun();
  const [first] = run.plan.batches;
  const [change] = first?.changes ?? [];
  if (first === undefined || change === undefined) throw new Error('the sample has a change');
  const changes = Array.from({ length: MANY }, (_, index) => ({
    ...change,
    key: `key-${index}`,
    resource: { ...change.resource, name: `object-${index}` },
    diff: [{ path: '/data/x', before: value, after: `${index}` }],
  }));
  return { ...run, plan: { ...run.plan, batches: [{ ...first, changes }] } };
}

test('a plan of 10,000 changes is read page by page, and every change is on one page', () => {
  const run = largeRun('before');
  const seen: unknown[] = [];
  let pages = 0;
  for (let offset: unknown = 0; typeof offset === 'number'; pages += 1) {
    const at = offset;
    const result = boundedData({ type: 'data', shown: (items) => planPage(run, at, Math.min(200, items)) });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(RESULT_BYTES_MAX);
    expect(result).toMatchObject({ summary: { update: MANY }, page: { total: MANY } });
    seen.push(
      ...(result.batches as { changes: { resource: { name: string } }[] }[]).flatMap(({ changes }) =>
        changes.map(({ resource }) => resource.name),
      ),
    );
    offset = isObject(result.page) ? result.page.next : undefined;
  }
  expect(seen).toEqual(Array.from({ length: MANY }, (_, index) => `object-${index}`));
  expect(pages).toBeGreaterThanOrEqual(MANY / 200);
});

test('a page of large values has fewer changes', () => {
  const run = largeRun('v'.repeat(3000));
  const result = boundedData({ type: 'data', shown: (items) => planPage(run, 0, Math.min(200, items)) });
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(RESULT_BYTES_MAX);
  expect(result.page).toMatchObject({ shown: expect.any(Number), total: MANY });
  expect(result.page).not.toMatchObject({ shown: 200 });
});

test('a list that is cut says how many items it lacks', () => {
  const result = boundedData(data({ version: 1, names: Array.from({ length: 1000 }, (_, index) => `n${index}`) }));
  expect(result).toMatchObject({ omitted: { '/names': 1000 - ITEMS_MAX } });
  expect(result.names).toHaveLength(ITEMS_MAX);
});

test('hidden characters are escaped in names of lists that are cut', () => {
  const result = boundedData(data({ version: 1, 'a\u202eb': Array(1000).fill(1) }));
  expect(result.omitted).toEqual({ '/a\\u202eb': 1000 - ITEMS_MAX });
});

test('a result that cannot be cut is refused', () => {
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, index]));
  expect(() => boundedData(data({ version: 1, keys }))).toThrow(
    expect.objectContaining({ code: 'mcp-result-too-large' }),
  );
});

test.each([
  { reason: 'terminal sequences', given: 'a\u001b[31mb\u009b', expected: 'a\\u001b[31mb\\u009b' },
  { reason: 'a change of direction', given: 'a\u202eb\u2066', expected: 'a\\u202eb\\u2066' },
  { reason: 'tag characters', given: 'a\u{e0041}b', expected: 'a\\udb40\\udc41b' },
  { reason: 'characters without width', given: 'a\u200bb\u2060\ufeff', expected: 'a\\u200bb\\u2060\\ufeff' },
  { reason: 'variation selectors', given: 'a\u{e0100}', expected: 'a\\udb40\\udd00' },
  { reason: 'half of a character', given: 'a\ud800b', expected: 'a\ufffdb' },
  { reason: 'nothing hidden', given: 'zwei\nZeilen\tüber 日本', expected: 'zwei\nZeilen\tüber 日本' },
])('escapes $reason', ({ given, expected }) => {
  expect(plainText(given)).toBe(expected);
});

test('a long text is cut and says so, and a line stays one line', () => {
  expect(plainText('a'.repeat(5000))).toMatch(/^a{4000}\.\.\. \(1000 more characters\)$/);
  expect(plainLine('one\n- delete everything\u2028two')).toBe('one - delete everything two');
});

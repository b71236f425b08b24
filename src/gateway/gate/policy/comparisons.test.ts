import { expect, test } from 'vitest';
import type { Attributes } from './attributes.ts';
import { comparedKey, comparisonsOf } from './comparisons.ts';
import { engine } from './engine.ts';
import { policyReads, unitedNames } from './reads.ts';

const CLAIMS: Attributes = { claim_owner: 'alice', claim_limit: 10, claim_groups: ['red', 'blue'] };

/** Returns one key for each call. undefined if the values of the call matter. */
function keysOf(condition: string, calls: readonly Attributes[]): readonly (string | undefined)[] {
  const answer = engine.askParser((cedar) =>
    cedar.policyToJson(`permit(principal, action, resource) when { ${condition} };`),
  );
  if (answer?.type !== 'success') throw new Error(`no policy: ${condition}`);
  const { context, resource } = policyReads(answer.json);
  const comparisons = comparisonsOf([answer.json], unitedNames([context, resource]));
  return calls.map((args) => comparisons && comparedKey(comparisons, args, CLAIMS));
}

test.each<[condition: string, alike: readonly Attributes[]]>([
  ['context.arg_a == "x"', [{ arg_a: 'y' }, { arg_a: 'xx' }, { arg_a: 'y', arg_b: 1 }]],
  ['"x" != resource.arg_a', [{ arg_a: 'y' }, { arg_a: '' }]],
  ['context.arg_a <= 14', [{ arg_a: 3 }, { arg_a: 13 }]],
  ['context.arg_a > -5 && 20 > context.arg_a', [{ arg_a: 3 }, { arg_a: 19 }]],
  ['context.arg_a like "/home/*.txt"', [{ arg_a: '/home/a.txt' }, { arg_a: '/home/b/c.txt' }]],
  ['["a", "b"].contains(context.arg_a)', [{ arg_a: 'c' }, { arg_a: 'd' }]],
  ['context.arg_a == context.claim_owner', [{ arg_a: 'bob' }, { arg_a: 'carol' }]],
  ['context.arg_a < context.claim_limit', [{ arg_a: 1 }, { arg_a: 9 }]],
  ['context.claim_groups.contains(context.arg_a)', [{ arg_a: 'red' }, { arg_a: 'blue' }]],
  ['context has arg_a', [{ arg_a: 'x' }, { arg_a: 'y' }]],
])('calls that no comparison can distinguish have the same key: %s', (condition, alike) => {
  const keys = keysOf(condition, alike);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toEqual(expect.any(String));
});

test.each<[condition: string, unlike: readonly Attributes[]]>([
  ['context.arg_a == "x"', [{ arg_a: 'x' }, { arg_a: 'y' }, { arg_a: 1 }, { arg_a: true }, { arg_a: false }, {}]],
  ['context.arg_a <= 14', [{ arg_a: 13 }, { arg_a: 14 }, { arg_a: 15 }, { arg_a: '14' }]],
  ['context.arg_a == context.claim_owner', [{ arg_a: 'alice' }, { arg_a: 'bob' }]],
  ['context.claim_groups.contains(context.arg_a)', [{ arg_a: 'red' }, { arg_a: 'green' }]],
  ['context.arg_a', [{ arg_a: true }, { arg_a: false }]],
  ['context has arg_a && context has arg_b', [{ arg_a: 'x' }, { arg_b: 'x' }, { arg_a: 'x', arg_b: 'x' }, {}]],
])('calls that a comparison can distinguish have different keys: %s', (condition, unlike) => {
  const keys = keysOf(condition, unlike);
  expect(keys.every((key) => typeof key === 'string')).toBe(true);
  expect(new Set(keys).size).toBe(unlike.length);
});

test.each([
  'context.arg_a == context.arg_b',
  'context.arg_a == principal.claim_owner',
  'context.arg_a + 1 == 3',
  'context.arg_a.b == 1',
  'context has arg_a.b',
  'context.arg_a == {b: 1}',
  'context.arg_a == Client::"x"',
  'context.arg_a == 9007199254740993',
  'context.arg_a in [Client::"x"]',
  'context.arg_a.contains("x")',
  'context.arg_a is Client',
  '[context.arg_a].contains("x")',
  'context.arg_a == "x" && ip(context.arg_a).isLoopback()',
  '(if context.arg_b == 1 then context.arg_a else "x") == "x"',
  'context == {arg_a: "x"}',
])('the exact value matters: %s', (condition) => {
  expect(keysOf(condition, [{ arg_a: 'x', arg_b: 'y' }])).toEqual([undefined]);
});

test.each<[kind: string, value: Attributes[string]]>([
  ['a list', ['x']],
  ['a record', { x: 1 }],
  ['a decimal', { __extn: { fn: 'decimal', arg: '1.5' } }],
])('the exact value of %s matters', (_kind, value) => {
  expect(keysOf('context.arg_a == "x"', [{ arg_a: value }])).toEqual([undefined]);
});

test('the exact value of a long text matters if several comparisons would read it', () => {
  const patterns = Array.from({ length: 100 }, (_, index) => `context.arg_a like "*${index}"`).join(' || ');
  const [short, long] = keysOf(patterns, [{ arg_a: 'x'.repeat(600) }, { arg_a: 'x'.repeat(700) }]);
  expect([short, long]).toEqual(['s', undefined]);
});

import { expect, test } from 'vitest';
import { kubernetesEnvironment } from './environment.ts';
import { compileExpression } from './expression.ts';

function result(text: string): unknown {
  const environment = kubernetesEnvironment().registerVariable('text', 'string');
  const compiled = compileExpression({ environment, objects: new Map() }, text);
  if (compiled.type !== 'expression') return compiled.reason;
  const evaluated = compiled.evaluate({ text: 'a'.repeat(100_000) });
  return evaluated.type === 'error' ? evaluated.message : evaluated;
}

const TEN = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]';

/** Returns nine nested loops. In `loop`, VAR stands for the loop's variable and BODY for the next loop. */
function nested(loop: string, innermost: string): string {
  let body = innermost;
  for (let depth = 0; depth < 9; depth++) body = `${TEN}.${loop.replace('VAR', `v${depth}`).replace('BODY', body)}`;
  return body;
}

function doubled(start: string): string {
  return `size([${start}]${'.map(v, v + v)'.repeat(30)}) > 0`;
}

test.each([
  { what: 'loops inside of loops', text: nested('all(VAR, BODY)', 'true') },
  { what: 'quantifiers, which go on after errors', text: nested('exists(VAR, BODY)', '1 / 0 > 0') },
  { what: 'lists of lists', text: `size(${nested('map(VAR, BODY)', '1')}) > 0` },
  { what: 'loops over keys and values', text: nested('all(k, VAR, BODY)', 'true') },
  { what: 'a long range', text: 'size(lists.range(1000000000)) > 0' },
  { what: 'a text that doubles', text: doubled("'aaaaaaaaaaaaaaaa'") },
  { what: 'a list that doubles', text: doubled('[1]') },
  { what: 'a text in place of each character', text: "size(text.replace('a', text)) > 0" },
  { what: 'every pair of a list', text: 'size(lists.range(100000).distinct()) > 0' },
  { what: 'a search that begins again at each character', text: "size(text.findAll('a*b|a')) > 0" },
  { what: 'a long text in each turn', text: "lists.range(100000).exists(x, (text + 'b').contains('c'))" },
])('$what cost too much to evaluate', ({ text }) => {
  expect(result(text)).toBe('the expression costs too much to evaluate');
});

test('the next evaluation has its full budget again', () => {
  expect(result(nested('all(VAR, BODY)', 'true'))).toContain('costs too much');
  expect(result('lists.range(100000).all(x, x >= 0)')).toEqual({ type: 'value', value: true });
});

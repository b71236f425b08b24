// Tests that layout mistakes are explained in authors' terms, at their place.

import { expect, test } from 'vitest';
import { formatProblem, type Problem } from '../problem.ts';
import { readDocuments } from './yaml.ts';

test.each([
  ['a field indented less', 'a:\n  b: 1\n c: 2\n', '3:1', /begins in another column/],
  ['a field indented more', 'a:\n  b: 1\n   c: 2\n', '2:6', /begin it in the column of this one/],
  ['a text with a colon', 'a: see: here\n', '1:4', /needs quotes if it is a text with ": "/],
  ['an item indented less', 'a:\n  - 1\n - 2\n', '3:1', /begins in another column/],
  ['an item without its mark', 'a:\n  - 1\n  2\n', '3:1', /begins in another column/],
  [
    'a bracket that stays open',
    'a: [1, 2\nb: 3\n',
    '2:1',
    /A \[ above is not closed before this place: write the missing \]\./,
  ],
  [
    'a brace that stays open',
    'a: {b: 1\nc: 3\n',
    '2:1',
    /A \{ above is not closed before this place: write the missing \}\./,
  ],
  [
    'a comma that is missing',
    'a: [{b: 1} {c: 2}]\n',
    '1:12',
    /^A comma, a line break or a quote is missing before this place\.$/,
  ],
  ['double quotes that stay open', 'a: "b\n', '2:1', /closing " is missing/],
  ['single quotes that stay open', "a: 'b\n", '2:1', /closing ' is missing/],
  ['a backslash in double quotes', 'a: "\\d"\n', '1:5', /write \\\\ if you mean a backslash, or use single quotes/],
  ['a text that begins with @', 'a: @b\n', '1:4', /^A text needs quotes if it begins with @\.$/],
  ['a name without a colon', 'a: 1\nb\n', '2:1', /the colon is missing, or the space after it/],
  ['a name over two lines', 'a\nb: 1\n', '1:1', /a ":" is missing after a field name/],
  ['a comma that is missing after quotes', "a: ['b' 'c']\n", '1:9', /is missing before this place|between two entries/],
  ['two texts in quotes', "a: 'b' 'c'\n", '1:8', /is missing before this place/],
])('%s', (_reason, text, place, says) => {
  const [problem] = readDocuments(text, 'a.yaml').flatMap(({ problems }) => problems);
  const [at, message = ''] = formatProblem(problem as Problem).split(': error yaml-syntax: ');
  expect(message).toMatch(says);
  expect(at).toBe(`a.yaml:${place}`);
});

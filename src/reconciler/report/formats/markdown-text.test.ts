// Tests that text from other authors is shown as literal text, in a comment and in the log of a workflow.

import { expect, test } from 'vitest';
import { inert } from './github-plan.ts';
import { code, fenced } from './markdown-text.ts';

test('a carriage return does not end a block of code', () => {
  expect(fenced(['+a\r```\r# Approved by @everyone', '-b'])).toBe(
    ['````diff', '+a', '```', '# Approved by @everyone', '-b', '````'].map((line) => `  ${line}`).join('\n'),
  );
});

test('a bar does not end the cell of a table, whatever precedes it', () => {
  expect(code('a|b')).toBe('`a\\|b`');
  expect(code('a\\|[b](https://example.com)')).toBe('`a\\ \\|[b](https://example.com)`');
});

test('a carriage return does not begin a command of a workflow', () => {
  expect(inert('  +a\r::error::b\r\n::stop-commands::c\n')).toEqual(['  +a', ': :error::b', ': :stop-commands::c']);
});

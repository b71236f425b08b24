import { expect, test } from 'vitest';
import { decisionsPage } from './decisions-page.ts';

test('the index lists each decision once, by number', () => {
  const page = decisionsPage([
    { name: '0002-later.md', text: '# 0002: Later\n\nBody.\n' },
    { name: '0001-first.md', text: '# 0001: First\n' },
  ]);
  expect(page.split('\n').filter((line) => line.startsWith('- '))).toEqual([
    '- [0001](0001-first.md): First',
    '- [0002](0002-later.md): Later',
  ]);
});

test.each([
  { reason: 'the number is another one', name: '0002-x.md', text: '# 0003: X' },
  { reason: 'the heading has no number', name: '0002-x.md', text: '# X' },
  { reason: 'the heading has another form', name: '0002-x.md', text: '# 2. X' },
])('a decision is refused where $reason', ({ name, text }) => {
  expect(() => decisionsPage([{ name, text }])).toThrow('must begin with "# 0002: Title"');
});

// Tests that only invalid UTF-8 is replaced.

import { expect, test } from 'vitest';
import { replaceInvalidUtf8 } from './utf8.ts';

test('bytes that are UTF-8 are not copied', () => {
  const bytes = Buffer.from('{"a":"größer 😀"}');
  expect(replaceInvalidUtf8(bytes)).toBe(bytes);
});

test.each([
  ['Latin-1', [0x63, 0xe9, 0x64], 'c\ufffdd'],
  ['an overlong quotation mark', [0xc0, 0xa2], '\ufffd\ufffd'],
  ['half of a sign', [0x61, 0xf0, 0x9f], 'a\ufffd'],
])('%s is replaced', (_what, bytes, text) => {
  expect(replaceInvalidUtf8(Buffer.from(bytes)).toString()).toBe(text);
});

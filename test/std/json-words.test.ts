// Words for JSON values that anybody may have sent.

import { expect, test } from 'vitest';
import { shownText } from '#std/json.ts';

const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);

test.each([
  ['text', 'text'],
  ['', ''],
  [7, '7'],
  [null, 'null'],
  [undefined, 'undefined'],
  [{ toString: 1, valueOf: 1 }, 'an object'],
  [['a'], 'a list'],
  [deep, 'a list'],
])('each value has words, whatever its members are: %#', (value, words) => expect(shownText(value)).toBe(words));

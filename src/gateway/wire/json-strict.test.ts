// Tests the strict pass over a value that a decision depends on.

import { describe, expect, test } from 'vitest';
import { MAX_DEPTH } from './json-bytes.ts';
import { readValue, scanValueStrict } from './scan.ts';

describe('scanValueStrict', () => {
  function strict(text: string, options: Parameters<typeof scanValueStrict>[2]): string {
    const body = Buffer.from(`xx${text}`);
    const scanned = scanValueStrict(body, { start: 2, end: body.length }, options);
    return scanned.ok ? 'accepted' : scanned.fault.message.replace(/ \(.*/, '');
  }
  const twice = 'A key occurs twice in one object';
  const otherCase = 'A key differs in letter case only from one that is read';
  const rows: readonly (readonly [string, Parameters<typeof scanValueStrict>[2], string])[] = [
    ['{"a":1,"b":{"x":1,"x":2}}', {}, 'accepted'],
    ['{"a":1,"b":{"x":1,"x":2}}', { deep: true }, twice],
    ['{"a":[{"x":1,"\\u0078":2}]}', { deep: true }, twice],
    ['{"a":1,"\\u0061":2}', {}, twice],
    ['{"a":1,"A":2}', {}, twice],
    ['{"A":2}', {}, 'accepted'],
    ['{"a":1,"A":2}', { known: ['b'] }, 'accepted'],
    ['{"a":1,"a":2}', { known: ['b'] }, twice],
    ['{"A":2}', { known: ['a'] }, otherCase],
    ['{"pa\u017f\u017f":2}', { known: ['pass'] }, otherCase],
    ['{"a":"\\ud83d\\ude00"}', {}, 'accepted'],
    ['{"a":"\\ud83d"}', {}, 'A text has half of a surrogate pair'],
    ['{"a":["\\ud83d"]}', {}, 'accepted'],
    ['{"a":["\\ud83d"]}', { deep: true }, 'A text has half of a surrogate pair'],
    ['{"\\ud83d":1}', {}, 'A text has half of a surrogate pair'],
    ['[1,{"a":1,"a":1}]', {}, 'accepted'],
    ['[1,{"a":1,"a":1}]', { deep: true }, twice],
    ['{"a":1,"b":{"x":1,"y":2,"z":3}}', { keysMax: 2 }, 'accepted'],
    ['{"a":1,"b":2,"c":3}', { keysMax: 2 }, 'An object has too many keys'],
    ['{}', { deep: true }, 'accepted'],
    ['[]', { deep: true }, 'accepted'],
    ['7', {}, 'accepted'],
    ['{"a":1', {}, 'The body is not valid JSON'],
    ['{"a":1}}', {}, 'The body is not valid JSON'],
    [
      `${'['.repeat(MAX_DEPTH + 1)}${']'.repeat(MAX_DEPTH + 1)}`,
      { deep: true },
      'The body is nested deeper than 256 levels',
    ],
  ];
  for (const [text, options, expected] of rows) {
    test(`answers "${expected}" to ${text.slice(0, 60)} with ${JSON.stringify(options)}`, () => {
      expect(strict(text, options)).toBe(expected);
    });
  }
});

test('readValue parses a part of a body', () => {
  const body = Buffer.from('é{"a":[1,"ü"]} ');
  expect(readValue(body, { start: 2, end: body.length - 1 })).toEqual({ a: [1, 'ü'] });
});

import { expect, test } from 'vitest';
import { duplicateKeys } from './json-keys.ts';

const rows: readonly { reason: string; text: string; found: string[] }[] = [
  { reason: 'none', text: '{"a": 1, "b": {"a": 2}}', found: [] },
  { reason: 'at the top', text: '{"a":1,"a":2}', found: ['a'] },
  { reason: 'a key that occurs three times is reported once', text: '{"a":1,"a":2,"a":3}', found: ['a'] },
  { reason: 'in a list', text: '{"l":[{"x":1},{"x":1,"x":2}]}', found: ['l[1].x'] },
  { reason: 'written differently', text: '{"a":1,"\\u0061":2}', found: ['a'] },
  { reason: 'after a text with quotes and brackets', text: '{"t":"\\"}],{","b":[],"b":{}}', found: ['b'] },
  { reason: 'with blanks everywhere', text: ' { "a" : [ ] ,\n "b" : { } , "a" : null } ', found: ['a'] },
  { reason: 'in empty containers', text: '[{},[],{"a":{}}]', found: [] },
];

test.each(rows)('repeated keys are found: $reason', ({ text, found }) => {
  expect(duplicateKeys(text)).toEqual(found);
});

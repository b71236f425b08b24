// Tests which messages and events pass the watches, in pieces of any length.

import { expect, test } from 'vitest';
import { watchData } from './data-watch.ts';
import { watchResult } from './text-watch.ts';

/**
 * Returns whether the text passes. Expects the same result for pieces of 1, 2, 3 and 7 bytes and for the whole text.
 */
function passes(text: string | Buffer, open: () => { push(bytes: Buffer): boolean }): boolean {
  const bytes = Buffer.from(text);
  const answers = [1, 2, 3, 7, bytes.length].map((length) => {
    const watch = open();
    for (let at = 0; at < bytes.length; at += length) {
      if (!watch.push(bytes.subarray(at, at + length))) return false;
    }
    return true;
  });
  expect(new Set(answers).size).toBe(1);
  return answers[0] ?? false;
}

const watch = () => watchResult((key) => key.toLowerCase() === 'tools');

test.each([
  ['{"id":1,"result":{"content":[{"type":"text","text":"\\"tools\\": é \\u00e9"}]}}', true],
  ['{"result":{"content":[],"structuredContent":{"tools":[1.5e-3,true,null,false]}}}', true],
  [' {"result":{}} \r\n', true],
  ['{"result":{"tools":[]}}', false],
  ['{"result":{"Tools" :[]}}', false],
  ['{"result":{"\\u0074ool\\u0073":[]}}', false],
  ['{"tools":[]}', true],
  ['{"id":"tools","result":{"description":"tools","content":[]}}', true],
  ['{"method":"sampling/createMessage","params":{"tools":[]}}', true],
  ['{"Result":{"tools":[]}}', false],
  ['{"r\\u0065sult":{"a":[{"b":1}],"tools":[]}}', false],
  ['{"result":{}}{"result":{"tools":[]}}', false],
  ['[{"result":{"tools":[]}}]', false],
  ['{"result":{"a":[}}', false],
  ['{"result":{}}}', false],
  ['{"result":{"a":"\n"}}', false],
  ["{'result':{}}", false],
  ['\ufeff{"result":{}}', false],
  [Buffer.from('{"result":{"tools":[]}}', 'utf16le'), false],
  [`{"a":${'['.repeat(300)}`, false],
])('%s passes: %s', (text, expected) => {
  expect(passes(text, watch)).toBe(expected);
});

test.each([
  ['data: {"result":{"a":1}}\n\n', true],
  ['event: message\r\nid: 1\r\n: tools\r\ndata: {"result":\r\ndata:{"a":1}}\r\n\r\n', true],
  ['retry: 5\rdata: {}\r\r', true],
  ['data: {"result":{"tools":[]}}\n\n', false],
  ['data: {"result":\rdata: {"tools":[]}}\n\n', false],
  ['id: 1\ndata:{"result":{"tools":[]}}\n\n', false],
  ['data: {"result":{"to\ndata: ols":[]}}\n\n', false],
  ['\ufeffdata: {"result":{"tools":[]}}\n\n', false],
  ['Data: {}\n\n', false],
])('an event %j passes: %s', (text, expected) => {
  expect(passes(text, () => watchData(watch()))).toBe(expected);
});

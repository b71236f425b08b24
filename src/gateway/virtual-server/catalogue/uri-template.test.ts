import { expect, test } from 'vitest';
import { matchTemplate } from './uri-template.ts';

test.each([
  ['file:///{path}', 'file:///a/b.txt', true],
  ['file:///{path}', 'file:///a?b', false],
  ['notes://{owner}/{note}', 'notes://ann/1', true],
  ['notes://{owner}/{note}', 'notes://ann', false],
  ['notes://{+path}{?q}', 'notes://a/b?q=1', true],
  ['notes://{+path}{#part}', 'notes://a/b#1', true],
  ['a.b/{x}', 'a-b/1', false],
  ['plain', 'plain', true],
  ['plain', 'plainer', false],
  ['{a}{b}', 'ü😀', true],
])('template %s matches %s: %s', (template, uri, fits) => {
  expect(matchTemplate(template, uri)).toBe(fits);
});

test('takes linear time for a URI that almost matches a template with many variables', () => {
  const begun = process.cpuUsage();
  for (const length of [1000, 4000, 8000]) {
    expect(matchTemplate(`x://${'{a}/'.repeat(8)}{b}`, `x://${'/'.repeat(length)}?`)).toBe(false);
  }
  expect(process.cpuUsage(begun).user / 1000).toBeLessThan(2000);
});

test('matches no template with a URI of more than 8,192 characters', () => {
  expect(matchTemplate('x://{a}', `x://${'a'.repeat(8188)}`)).toBe(true);
  expect(matchTemplate('x://{a}', `x://${'a'.repeat(8189)}`)).toBe(false);
});

import { expect, test } from 'vitest';
import { gramsOf } from './grams.ts';

test.each([
  { text: 'io.acme/clock tells the time', part: 'clock', reason: 'a word' },
  { text: 'io.acme/clock tells the time', part: 'k tel', reason: 'across words' },
  { text: 'ünïcödé 💣 text', part: 'cödé 💣', reason: 'beyond ASCII' },
  { text: 'abc', part: 'abc', reason: 'the whole text' },
  { text: 'abc', part: 'ab', reason: 'a part shorter than a gram' },
])('a text has every gram of a part of it: $reason', ({ text, part }) => {
  expect(gramsOf(text)).toEqual(expect.arrayContaining([...gramsOf(part)]));
});

test('other texts have other grams, and each gram is there once', () => {
  expect(gramsOf('clock')).not.toEqual(expect.arrayContaining([...gramsOf('cloak')]));
  expect(gramsOf('aaaaaaa')).toHaveLength(1);
  expect(gramsOf('abcabc')).toHaveLength(3);
  expect(gramsOf('ab')).toEqual([]);
});

test('every gram is an integer as PostgreSQL has them', () => {
  const grams = gramsOf('\uffff\uffff\uffff zebra\u001f\u0000');
  expect(grams.every((gram) => Number.isInteger(gram) && gram >= -(2 ** 31) && gram < 2 ** 31)).toBe(true);
});

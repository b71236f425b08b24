import { expect, test } from 'vitest';
import { closest, didYouMean } from './closest.ts';

const FIELDS = ['image', 'transport', 'proxyPort', 'groupRef', 'replicas'];

test.each([
  { word: 'imgae', near: 'image', reason: 'two neighbours swapped' },
  { word: 'proxyport', near: 'proxyPort', reason: 'only the case differs' },
  { word: 'replica', near: 'replicas', reason: 'a letter is missing' },
  { word: 'trnsprt', near: 'transport', reason: 'two letters are missing' },
  { word: 'colour', near: undefined, reason: 'no candidate is near' },
  { word: 'x', near: undefined, reason: 'a word of one letter has no near candidate' },
])('the nearest candidate of $word is $near: $reason', ({ word, near }) => {
  expect(closest(word, FIELDS)).toBe(near);
});

test('suggests the nearest of several candidates', () => {
  expect(closest('stdoi', ['stdout', 'stdio', 'studio'])).toBe('stdio');
  expect(didYouMean('stdoi', ['stdio'])).toBe(' Did you mean "stdio"?');
  expect(didYouMean('nothing', ['stdio'])).toBe('');
});

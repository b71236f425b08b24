// Tests that secrets are hidden in texts of other services.

import { expect, it } from 'vitest';
import { conceal } from './conceal.ts';

const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg';

it.each([
  { text: 'the audience is not allowed', shown: 'the audience is not allowed' },
  { text: `bad token ${TOKEN}`, shown: 'bad token ***' },
  { text: `bad token "${TOKEN}" of ada`, shown: 'bad token "***" of ada' },
  { text: `token=${TOKEN.slice(0, 20)}... is bad`, shown: 'token=***.. is bad' },
  { text: `signature ${TOKEN.split('.')[2]} is wrong`, shown: 'signature *** is wrong' },
  { text: `${TOKEN}${TOKEN}`, shown: '******' },
  { text: `a pass phrase: short`, shown: 'a pass phrase: ***', secret: 'short' },
  { text: 'nothing', shown: 'nothing', secret: '' },
  { text: 'two\r\nlines\0', shown: 'two lines' },
])('changes $text to $shown', ({ text, shown, secret = TOKEN }) => {
  expect(conceal(text, [secret])).toBe(shown);
});

it('hides each of several secrets', () => {
  expect(conceal(`${TOKEN} and client-secret-1`, [TOKEN, 'client-secret-1'])).toBe('*** and ***');
});

it('shows no piece of a secret, at any length of the shortened text', () => {
  for (let before = 0; before < 320; before += 1) {
    const shown = conceal(`${'x'.repeat(before)}${TOKEN}`, [TOKEN]);
    expect(shown).toMatch(/^x*\*{0,3}…?$/);
    expect(shown.length).toBeLessThanOrEqual(301);
  }
});

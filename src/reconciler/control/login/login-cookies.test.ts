// Tests the cookies of logins.

import { expect, test } from 'vitest';
import { createLoginCookies } from './login-cookies.ts';

const PART = 'A'.repeat(43);
const VISIT = { state: PART, nonce: PART, verifier: PART };

test('with https the cookies belong to exactly this host, and scripts cannot read them', () => {
  const cookies = createLoginCookies('https://skep.example.com/console');
  expect(cookies.setSession('id')).toMatch(
    /^__Host-skep-console-[0-9a-f]{8}=id; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect(cookies.setVisit(VISIT)).toMatch(
    /^__Host-skep-login-[0-9a-f]{8}=A{43}\.A{43}\.A{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(cookies.endSession).toMatch(/=; Max-Age=0; .*; Secure$/);
});

test('a cookie of another console, one that is repeated, and half a visit do not count', () => {
  const cookies = createLoginCookies('http://127.0.0.1:8081');
  const [pair = ''] = cookies.setSession('id').split(';');
  const [visit = ''] = cookies.setVisit(VISIT).split(';');
  const other = createLoginCookies('http://127.0.0.1:8082').setSession('other').split(';')[0];
  expect(cookies.session(`${other}; ${pair}`)).toBe('id');
  expect(cookies.session(`${pair}; ${pair.replace('=id', '=planted')}`)).toBeUndefined();
  expect([cookies.session(other), cookies.session(undefined)]).toEqual([undefined, undefined]);
  expect(cookies.visit(visit)).toEqual(VISIT);
  expect(cookies.visit(visit.slice(0, -1))).toBeUndefined();
});

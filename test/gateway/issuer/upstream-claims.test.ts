// Tests that claims of a provider's token are used only during its lifetime. An unreadable lifetime counts as expired.

import { describe, expect, it } from 'vitest';
import { createUpstreamClaims } from '#gateway/issuer/upstream-claims.ts';

const NOW_S = 2_000_000_000;

function claimsOf(claims: object): object {
  const clock = { now: () => NOW_S * 1000 };
  const read = createUpstreamClaims({ clock, notify: () => undefined } as unknown as Parameters<
    typeof createUpstreamClaims
  >[0]);
  const parts = [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return read('company', `${parts.join('.')}.signature`);
}

describe('claims of a token', () => {
  it.each([
    ['without times', {}],
    ['that has not expired', { exp: NOW_S + 1 }],
    ['that is valid from now on', { nbf: NOW_S }],
  ])('%s count', (_what, times) => {
    expect(claimsOf({ sub: 'u-1', ...times })).toEqual({ sub: 'u-1', ...times });
  });

  it.each([
    ['that has expired', { exp: NOW_S }],
    ['whose expiry is a text', { exp: String(NOW_S + 1) }],
    ['whose expiry is null', { exp: null }],
    ['whose expiry is an object', { exp: {} }],
    ['that is not valid yet', { nbf: NOW_S + 1 }],
    ['whose beginning is a text', { nbf: String(NOW_S - 1) }],
  ])('%s are not there', (_what, times) => {
    expect(claimsOf({ sub: 'u-1', ...times })).toEqual({});
  });
});

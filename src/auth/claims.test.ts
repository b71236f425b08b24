import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { checkClaims, type ServiceAccount } from './claims.ts';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1000;
const GOOD: JsonObject = { iss: 'https://i.example', aud: 'registry', exp: NOW + 1 };

function check(change: JsonObject, expected: string, account?: ServiceAccount): void {
  const claims = { issuer: 'https://i.example', audience: 'registry', account };
  const refusal = checkClaims({ ...GOOD, ...change }, claims, NOW_MS);
  expect(refusal === undefined ? 'accepted' : JSON.stringify(refusal)).toBe(expected);
}

test.each<{ change: JsonObject; expected: string; reason: string }>([
  { change: {}, expected: 'accepted', reason: 'all is right' },
  { change: { aud: ['other', 'registry'] }, expected: 'accepted', reason: 'one of several audiences is ours' },
  { change: { exp: NOW + 0.5 }, expected: 'accepted', reason: 'half a second is left' },
  { change: { exp: NOW }, expected: `{"reason":"token-expired","expiredAt":${NOW}}`, reason: 'there is no leeway' },
  { change: { exp: undefined }, expected: '{"reason":"claim-missing","claim":"exp"}', reason: 'exp is missing' },
  { change: { exp: '9999999999' }, expected: '{"reason":"claim-invalid","claim":"exp"}', reason: 'exp is text' },
  { change: { exp: null }, expected: '{"reason":"claim-invalid","claim":"exp"}', reason: 'exp is null' },
  { change: { iss: undefined }, expected: '{"reason":"claim-missing","claim":"iss"}', reason: 'iss is missing' },
  {
    change: { iss: ['https://i.example'] },
    expected: '{"reason":"claim-invalid","claim":"iss"}',
    reason: 'iss is a list',
  },
  {
    change: { iss: 'https://i.example/' },
    expected: '{"reason":"issuer-mismatch","actual":"https://i.example/"}',
    reason: 'a slash makes another issuer',
  },
  { change: { aud: undefined }, expected: '{"reason":"claim-missing","claim":"aud"}', reason: 'aud is missing' },
  {
    change: { aud: 'registry2' },
    expected: '{"reason":"audience-mismatch","actual":["registry2"]}',
    reason: 'aud differs',
  },
  { change: { aud: [] }, expected: '{"reason":"audience-mismatch","actual":[]}', reason: 'there is no audience' },
  {
    change: { aud: [1, 'registry'] },
    expected: '{"reason":"claim-invalid","claim":"aud"}',
    reason: 'an audience is not a text',
  },
  { change: { nbf: NOW }, expected: 'accepted', reason: 'nbf is now' },
  {
    change: { nbf: NOW + 1 },
    expected: `{"reason":"token-not-yet-valid","validFrom":${NOW + 1}}`,
    reason: 'nbf is in the future',
  },
  { change: { nbf: 'soon' }, expected: '{"reason":"claim-invalid","claim":"nbf"}', reason: 'nbf is text' },
])('$reason: $expected', ({ change, expected }) => {
  check(change, expected);
});

const OF_CALLER: JsonObject = {
  sub: 'system:serviceaccount:clients:caller',
  'kubernetes.io': { namespace: 'clients', serviceaccount: { name: 'caller', uid: '1' } },
};
const CALLER = { namespace: 'clients', name: 'caller' };
const missing = (claim: string) => JSON.stringify({ reason: 'claim-missing', claim });
const invalid = (claim: string) => JSON.stringify({ reason: 'claim-invalid', claim });
const mismatch = '{"reason":"account-mismatch","actual":"clients/caller"}';

test.each<{ change: JsonObject; account: ServiceAccount; expected: string; reason: string }>([
  { change: {}, account: CALLER, expected: 'accepted', reason: 'the account is the expected one' },
  { change: {}, account: { namespace: 'clients' }, expected: 'accepted', reason: 'it is one of the namespace' },
  { change: {}, account: { ...CALLER, name: 'call' }, expected: mismatch, reason: 'it has another name' },
  { change: {}, account: { ...CALLER, namespace: 'client' }, expected: mismatch, reason: 'it is of another namespace' },
  { change: {}, account: { namespace: 'client' }, expected: mismatch, reason: 'no account of the namespace' },
  {
    change: { 'kubernetes.io': undefined },
    account: CALLER,
    expected: missing('kubernetes.io'),
    reason: 'the subject alone names the account',
  },
  { change: { sub: undefined }, account: CALLER, expected: missing('sub'), reason: 'there is no subject' },
  {
    change: { sub: 'system:serviceaccount:clients:other' },
    account: CALLER,
    expected: invalid('sub'),
    reason: 'the subject is another account',
  },
  {
    change: { 'kubernetes.io': { namespace: 'clients' } },
    account: { namespace: 'clients' },
    expected: invalid('kubernetes.io'),
    reason: 'no account is named',
  },
  {
    change: { 'kubernetes.io': ['clients'] },
    account: CALLER,
    expected: invalid('kubernetes.io'),
    reason: 'the claim is a list',
  },
])('service account: $reason: $expected', ({ change, account, expected }) => {
  check({ ...OF_CALLER, ...change }, expected, account);
});

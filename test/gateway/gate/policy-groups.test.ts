// Tests groups of callers in policies: the claims that name groups, their entities, and the denial if a policy needs
// unknown groups.

import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { decide, outcome, policiesOf } from './policies.ts';

const PERMIT = 'permit(principal, action, resource);';
const STAFF = 'permit(principal in THVGroup::"staff", action, resource);';
const NO_CONTRACTORS = 'forbid(principal in THVGroup::"contractors", action, resource);';

function asked(claims: JsonObject) {
  return { claims: { sub: 'alice', ...claims } };
}

test.each<readonly [reason: string, claims: JsonObject, expected: string]>([
  ['no claim', {}, 'policy-denied'],
  ['the usual claim', { groups: ['other', 'staff'] }, 'allowed'],
  ['another group', { groups: ['other'] }, 'policy-denied'],
  ['the claim of Keycloak', { roles: ['staff'] }, 'allowed'],
  ['the claim of Cognito', { 'cognito:groups': ['staff'] }, 'allowed'],
  ['the first of them counts, also if it is empty', { groups: [], roles: ['staff'] }, 'policy-denied'],
  ['null counts as absent', { groups: null, roles: ['staff'] }, 'allowed'],
  ['a text is not a list', { groups: 'staff' }, 'policy-error'],
  ['a list with other types', { groups: ['staff', 7] }, 'policy-error'],
  ['a text that Cedar cannot express', { groups: ['staff', '\ud800'] }, 'policy-error'],
  [
    'too many groups for the token: they are elsewhere',
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example.com' } } },
    'policy-error',
  ],
])('a permit for a group: %s', (_reason, claims, expected) => {
  expect(outcome(decide(policiesOf([STAFF]), asked(claims)))).toBe(expected);
});

test.each<readonly [reason: string, claims: JsonObject, expected: string]>([
  ['a member', { groups: ['contractors'] }, 'policy-denied'],
  ['not a member', { groups: ['staff'] }, 'allowed'],
  ['without groups', {}, 'allowed'],
  ['groups that are not known', { groups: 'contractors' }, 'policy-error'],
  ['a token of an authorization server of our own', { tsid: 'a session' }, 'policy-error'],
  ['too many groups for a URL', { hasgroups: true }, 'policy-error'],
  [
    'some of the groups, and the others elsewhere',
    { groups: ['staff'], _claim_names: { groups: 'a' } },
    'policy-error',
  ],
  ['a list of the claims elsewhere that cannot be read', { _claim_names: '{"groups":"a"}' }, 'policy-error'],
  ['other claims elsewhere', { _claim_names: { address: 'a' } }, 'allowed'],
])('a group that is forbidden: %s', (_reason, claims, expected) => {
  expect(outcome(decide(policiesOf([PERMIT, NO_CONTRACTORS]), asked(claims)))).toBe(expected);
});

test.each<readonly [reason: string, claims: JsonObject, expected: string]>([
  ['a group', { realm_access: { roles: ['contractors'] } }, 'policy-denied'],
  ['without such a claim', { realm_access: {} }, 'allowed'],
  ['the first part of the path is elsewhere', { _claim_names: { realm_access: 'a' } }, 'policy-error'],
  ['the path leads through a text', { realm_access: 'contractors' }, 'policy-error'],
  ['the path leads through a list', { realm_access: [{ roles: ['contractors'] }] }, 'policy-error'],
])('a group that is forbidden, at a path: %s', (_reason, claims, expected) => {
  const policies = policiesOf([PERMIT, NO_CONTRACTORS], undefined, { group_claim_name: 'realm_access.roles' });
  expect(outcome(decide(policies, asked(claims)))).toBe(expected);
});

describe('the claim with groups', () => {
  const claim = 'https://example.com/groups';
  const named = policiesOf([STAFF], undefined, { group_claim_name: claim });
  const nested = policiesOf([STAFF], undefined, { group_claim_name: 'realm_access.roles' });
  const both = policiesOf([STAFF], undefined, { role_claim_name: 'roles' });

  it.each<readonly [reason: string, policies: typeof named, claims: JsonObject, expected: string]>([
    ['a configured claim with dots in its name', named, { [claim]: ['staff'] }, 'allowed'],
    [
      'the configured claim has precedence over the usual claims',
      named,
      { [claim]: ['other'], groups: ['staff'] },
      'policy-denied',
    ],
    ['without it, the usual ones count', named, { groups: ['staff'] }, 'allowed'],
    ['a path', nested, { realm_access: { roles: ['staff'] } }, 'allowed'],
    [
      'the whole name before the path',
      nested,
      { 'realm_access.roles': [], realm_access: { roles: ['staff'] } },
      'policy-denied',
    ],
    [
      'a property of every object is not a claim',
      policiesOf([STAFF], undefined, { group_claim_name: 'constructor.name' }),
      {},
      'policy-denied',
    ],
    ['roles in addition to groups', both, { groups: ['other'], roles: ['staff'] }, 'allowed'],
    ['roles that are not known', both, { groups: ['staff'], roles: 'staff' }, 'policy-error'],
  ])('%s', (_reason, policies, claims, expected) => {
    expect(outcome(decide(policies, asked(claims)))).toBe(expected);
  });
});

describe('entities', () => {
  const team = (id: string, parents: object[] = []) => ({ uid: { type: 'Team', id }, attrs: {}, parents });
  const reader = { type: 'Role', id: 'reader' };

  it('have the configured type', () => {
    const policies = policiesOf(['permit(principal in Team::"staff", action, resource);'], undefined, {
      group_entity_type: 'Team',
    });
    expect(outcome(decide(policies, asked({ groups: ['staff'] })))).toBe('allowed');
  });

  it('of the file can make groups members of other groups', () => {
    const policies = policiesOf(
      ['permit(principal in Role::"reader", action, resource);'],
      [team('staff', [reader]), { uid: reader, attrs: {}, parents: [] }],
      { group_entity_type: 'Team' },
    );
    expect(outcome(decide(policies, asked({ groups: ['staff'] })))).toBe('allowed');
    expect(outcome(decide(policies, asked({ groups: ['other'] })))).toBe('policy-denied');
  });

  it('of the file keep the parents of a caller', () => {
    const alice = { uid: { type: 'Client', id: 'alice' }, attrs: {}, parents: [reader] };
    const policies = policiesOf([`${STAFF} permit(principal in Role::"reader", action, resource);`], [alice]);
    expect(outcome(decide(policies, asked({})))).toBe('allowed');
    expect(outcome(decide(policies, { claims: { sub: 'bob', groups: ['staff'] } }))).toBe('allowed');
    expect(outcome(decide(policies, { claims: { sub: 'bob' } }))).toBe('policy-denied');
  });
});

it('a resource with a caller as parent is in the groups of the caller', () => {
  const owned = { uid: { type: 'Tool', id: 'add' }, attrs: {}, parents: [{ type: 'Client', id: 'alice' }] };
  const policies = policiesOf([PERMIT, 'forbid(principal, action, resource in THVGroup::"contractors");'], [owned]);
  const call = { ...asked({ groups: ['contractors'] }), name: 'add' };
  expect(outcome(decide(policies, call))).toBe('policy-denied');
  expect(outcome(decide(policies, { ...call, ...asked({ groups: ['staff'] }) }))).toBe('allowed');
});

it('a decision is cached only for callers with equal groups', () => {
  const policies = policiesOf([STAFF]);
  const outcomes = [['staff'], ['other'], ['staff']].map((groups) => outcome(decide(policies, asked({ groups }))));
  expect(outcomes).toEqual(['allowed', 'policy-denied', 'allowed']);
});

it('policies without groups decide even if the groups are unknown', () => {
  const policies = policiesOf(['permit(principal, action in [Action::"call_tool"], resource);']);
  expect(outcome(decide(policies, asked({ groups: 'staff' })))).toBe('allowed');
});

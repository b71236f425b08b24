// Tests which role the claims of an id_token give.

import { expect, test } from 'vitest';
import { personOf } from './roles.ts';

const RULES = [
  { role: 'viewer' as const, claim: 'email', values: ['ada@example.com'] },
  { role: 'operator' as const, claim: '/email', values: ['bob@example.com'] },
  { role: 'viewer' as const, claim: 'staff', values: ['true'] },
  { role: 'operator' as const, claim: 'groups', values: ['team-a', 'team-b'], namespaces: ['a-*'] },
  { role: 'operator' as const, claim: '/realm_access/roles', values: ['leads'], namespaces: ['b'] },
  { role: 'operator' as const, claim: 'https://example.com/role', values: ['root'] },
];

test.each([
  { claims: {}, person: { name: '1' } },
  { claims: { groups: ['others'] }, person: { name: '1' } },
  { claims: { groups: 'team-a' }, person: { name: '1', role: 'operator', namespaces: ['a-*'] } },
  { claims: { groups: 'team-a team-b' }, person: { name: '1' } },
  { claims: { groups: [['team-a']] }, person: { name: '1' } },
  { claims: { staff: true }, person: { name: '1', role: 'viewer' } },
  { claims: { staff: 'false' }, person: { name: '1' } },
  { claims: { email: 'ada@example.com' }, person: { name: '1' } },
  { claims: { email: 'ada@example.com', email_verified: 'true' }, person: { name: '1' } },
  { claims: { email: 'bob@example.com' }, person: { name: '1' } },
  { claims: { email: 'bob@example.com', email_verified: 'true' }, person: { name: '1' } },
  {
    claims: { email: 'ada@example.com', email_verified: true },
    person: { name: 'ada@example.com', role: 'viewer' },
  },
  {
    claims: { groups: ['team-b'], realm_access: { roles: ['leads'] } },
    person: { name: '1', role: 'operator', namespaces: ['a-*', 'b'] },
  },
  {
    claims: { staff: true, groups: ['team-b'], 'https://example.com/role': 'root' },
    person: { name: '1', role: 'operator' },
  },
])('$claims', ({ claims, person }) => {
  expect(personOf({ sub: '1', ...claims }, RULES)).toEqual(person);
});

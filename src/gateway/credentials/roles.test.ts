// Tests the mapping of claims to roles.

import { describe, expect, it } from 'vitest';
import { createRoleChoice } from './roles.ts';

const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`;

type Block = Parameters<typeof createRoleChoice>[0];
function block(more: Partial<Block>): Block {
  return {
    region: 'eu-central-1',
    service: 'aws-mcp',
    role_claim: 'groups',
    session_duration: 3600,
    session_name_claim: 'sub',
    ...more,
  };
}

describe('a claim mapping', () => {
  const choose = createRoleChoice(block({ role_mappings: [{ claim: 'admins', role_arn: role('Admin') }] }));
  it.each([
    { groups: ['staff', 'admins'], expected: role('Admin') },
    { groups: ['staff'], expected: undefined },
    { groups: ['admins '], expected: undefined },
    { groups: [['admins']], expected: undefined },
    { groups: 'admins', expected: role('Admin'), reason: 'a text is one value' },
    { groups: 'no-admins', expected: undefined, reason: 'a part of a text is not a value' },
    { groups: 'staff admins', expected: undefined, reason: 'a text is not a list' },
    { groups: { admins: true }, expected: undefined },
    { groups: null, expected: undefined },
    { groups: undefined, expected: undefined },
  ])('of groups $groups returns $expected', ({ groups, expected }) => {
    expect(choose({ sub: 'ada', groups })).toBe(expected);
  });

  it('reads the configured claim, by its whole name', () => {
    const other = createRoleChoice(
      block({ role_claim: 'https://example.com/roles', role_mappings: [{ claim: 'a', role_arn: role('A') }] }),
    );
    expect(other({ 'https://example.com/roles': ['a'] })).toBe(role('A'));
    expect(other({ groups: ['a'] })).toBeUndefined();
  });

  it('compares the value literally, even if it looks like an expression', () => {
    const claim = '" in ["x"] || true || "';
    const hostile = createRoleChoice(block({ role_mappings: [{ claim, role_arn: role('A') }] }));
    expect(hostile({ groups: ['x'] })).toBeUndefined();
    expect(hostile({ groups: [claim] })).toBe(role('A'));
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'finds no role if the role claim is %s and the token lacks this claim',
    (name) => {
      const inherited = createRoleChoice(
        block({ role_claim: name, role_mappings: [{ claim: name, role_arn: role('A') }] }),
      );
      expect(inherited({ sub: 'ada' })).toBeUndefined();
    },
  );
});

describe('a matcher', () => {
  it('that needs an absent claim does not match, and the next mapping is tried', () => {
    const choose = createRoleChoice(
      block({
        role_mappings: [
          { matcher: 'claims.email.endsWith("@example.com")', role_arn: role('Mail') },
          { matcher: 'claims.sub == "ada"', role_arn: role('Ada') },
        ],
      }),
    );
    expect(choose({ sub: 'ada' })).toBe(role('Ada'));
    expect(choose({ sub: 'ada', email: 'ada@example.com' })).toBe(role('Mail'));
    expect(choose({ sub: 'bob' })).toBeUndefined();
  });
});

describe('if several mappings match', () => {
  const fits = (name: string, priority?: number) => ({
    matcher: 'claims.sub == "ada"',
    role_arn: role(name),
    priority,
  });
  it.each([
    { reason: 'the lowest priority', mappings: [fits('A', 5), fits('B', 1), fits('C', 3)], expected: 'B' },
    { reason: 'the first of equal priorities', mappings: [fits('A', 2), fits('B', 1), fits('C', 1)], expected: 'B' },
    { reason: 'one with a priority before one without', mappings: [fits('A'), fits('B', 900)], expected: 'B' },
    { reason: 'priority 0 before all', mappings: [fits('A', 1), fits('B', 0)], expected: 'B' },
    { reason: 'the first of those without', mappings: [fits('A'), fits('B')], expected: 'A' },
  ])('$reason is used', ({ mappings, expected }) => {
    expect(createRoleChoice(block({ role_mappings: mappings }))({ sub: 'ada' })).toBe(role(expected));
  });
});

it('a caller without a matching mapping gets the fallback, even if the block has no mappings', () => {
  const fallback_role_arn = role('Fallback');
  const role_mappings = [{ claim: 'admins', role_arn: role('Admin') }];
  expect(createRoleChoice(block({ fallback_role_arn, role_mappings }))({ groups: [] })).toBe(fallback_role_arn);
  expect(createRoleChoice(block({ fallback_role_arn }))({})).toBe(fallback_role_arn);
});

it.each<{ reason: string; more: Partial<Block> }>([
  { reason: 'neither mappings nor fallback', more: {} },
  { reason: 'no CEL', more: { role_mappings: [{ matcher: 'claims.sub ==', role_arn: role('A') }] } },
  { reason: 'claim and matcher', more: { role_mappings: [{ claim: 'a', matcher: 'true', role_arn: role('A') }] } },
  { reason: 'neither claim nor matcher', more: { role_mappings: [{ role_arn: role('A') }] } },
  { reason: 'a text that is not a role', more: { role_mappings: [{ claim: 'a', role_arn: 'Admin' }] } },
  { reason: 'a role of two lines', more: { fallback_role_arn: `${role('A')}\n` } },
])('a block with $reason is refused', ({ more }) => {
  expect(() => createRoleChoice(block(more))).toThrow(expect.objectContaining({ code: 'credential-config-invalid' }));
});

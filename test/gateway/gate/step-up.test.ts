// Tests which additional scopes would permit a refused call.

import { expect, it } from 'vitest';
import type { GateCode } from '#gateway/gate/codes.ts';
import { scopesForCall } from '#gateway/gate/policy/step-up.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import type { JsonObject } from '#std/json.ts';
import { policiesOf } from './policies.ts';

const SUPPORTED = ['openid', 'read', 'write', 'admin'];

function scopesFor(policies: readonly string[], claims: JsonObject, tool = 'change', code: GateCode = 'policy-denied') {
  const body = Buffer.from(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: { count: 3 } } }),
  );
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  const call = { body, message: scanned.message, claims: { sub: 'ada', ...claims }, hintsOf: () => undefined };
  return scopesForCall(policiesOf(policies), call, code, SUPPORTED);
}

it('returns all possible scopes if the arguments are too long for a decision per scope', () => {
  const body = Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'change', arguments: { text: 'x'.repeat(20_000) } },
    }),
  );
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  const call = { body, message: scanned.message, claims: { sub: 'ada' }, hintsOf: () => undefined };
  expect(scopesForCall(policiesOf([needs('write')]), call, 'policy-denied', SUPPORTED)).toEqual(SUPPORTED);
});

const needs = (scope: string, more = '') =>
  `permit(principal, action, resource == Tool::"change") when { context.claim_scope like "*${scope}*"${more} };`;

it.each([
  ['a missing scope', [needs('write')], { scope: 'openid' }, ['openid', 'write']],
  ['two missing scopes', [needs('write', ' && context.claim_scope like "*read*"')], {}, ['read', 'write']],
  ['either of two: only one', [needs('admin'), needs('write')], { scope: 'openid' }, ['openid', 'admin']],
  ['the ones that it has stay', [needs('write')], { scope: 'read openid other' }, ['openid', 'read', 'write']],
  ['a token without scopes', [needs('write')], {}, ['write']],
  [
    'scopes that are a list',
    ['permit(principal, action, resource) when { context.claim_scp.contains("write") };'],
    { scp: ['read'] },
    ['read', 'write'],
  ],
  ['one with an argument that is right', [needs('write', ' && context.arg_count == 3')], {}, ['write']],
])('returns scopes for a policy that requires %s', (_what, policies, claims, expected) => {
  expect(scopesFor(policies, claims)).toEqual(expected);
});

it.each([
  ['another caller', ['permit(principal == Client::"bob", action, resource);', needs('unheard')], {}],
  ['a scope that is not announced', [needs('unheard')], {}],
  ['another tool', [needs('write')], {}, 'other'],
  ['another argument', [needs('write', ' && context.arg_count == 4')], {}],
  ['a group', ['permit(principal, action, resource) when { context.claim_groups.contains("ops") };'], {}],
  ['nothing, and one forbids it', [needs('write'), 'forbid(principal, action, resource);'], {}],
  ['scopes that it has', [needs('write')], { scope: SUPPORTED.join(' ') }],
])('returns no scope if a policy requires %s', (_what, policies, claims, tool = 'change') => {
  expect(scopesFor(policies, claims, tool)).toBeUndefined();
});

it.each(['policy-arguments-ambiguous', 'policy-method-unknown', 'policy-engine-failed'] as const)(
  'returns no scope if the call was refused with %s',
  (code) => expect(scopesFor([needs('write')], {}, 'change', code)).toBeUndefined(),
);

// Tests with random policies that a list contains an item exactly if a call of this item without arguments is allowed.
// Covers tools, prompts, resources and templates.

import { expect, it } from 'vitest';
import { createKnownTools } from '#gateway/gate/known-tools.ts';
import { filterList } from '#gateway/gate/lists.ts';
import { decideMessage } from '#gateway/gate/policy/methods.ts';
import { toolRules } from '#gateway/gate/tools.ts';
import type { FilteredKey } from '#gateway/wire/methods.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import type { JsonObject } from '#std/json.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { policiesOf } from './policies.ts';

const NAMES = [
  'a',
  'b',
  'file:///a.b',
  'file:///a/b',
  'x"); permit(principal, action, resource',
  'naïve\n',
  'constructor',
];
const KEYS: readonly { key: FilteredKey; method: string; member: string; call: string; param: string }[] = [
  { key: 'tools', method: 'tools/list', member: 'name', call: 'tools/call', param: 'name' },
  { key: 'prompts', method: 'prompts/list', member: 'name', call: 'prompts/get', param: 'name' },
  { key: 'resources', method: 'resources/list', member: 'uri', call: 'resources/read', param: 'uri' },
  {
    key: 'resourceTemplates',
    method: 'resources/templates/list',
    member: 'uriTemplate',
    call: 'resources/read',
    param: 'uri',
  },
  { key: 'skills', method: 'skills/list', member: 'uri', call: 'skills/get', param: 'uri' },
];

function policy(random: Random): string {
  const action = random.pick([
    'action',
    'action == Action::"call_tool"',
    'action == Action::"get_prompt"',
    'action == Action::"read_resource"',
  ]);
  const condition = random.pick([
    'true',
    `resource.name == "${random.pick(['a', 'b', 'file____a_b'])}"`,
    'resource has uri && resource.uri == "file:///a.b"',
    'resource has readOnlyHint && resource.readOnlyHint',
    'resource.destructiveHint',
    'context has arg_x && context.arg_x == 1',
    'context.arg_x == 1',
    '!(context has arg_x)',
    'principal.claim_role == "x"',
    'principal has claim_role',
  ]);
  return `${random.chance(0.8) ? 'permit' : 'forbid'} (principal, ${action}, resource) when { ${condition} };`;
}

function scan(value: unknown) {
  const body = Buffer.from(JSON.stringify(value));
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return { body, message: scanned.message };
}

function annotations(random: Random): JsonObject {
  return random.pick([
    {},
    { readOnlyHint: true },
    { readOnlyHint: false, destructiveHint: true },
    { destructiveHint: false },
  ]);
}

it.each(Array.from({ length: 300 }, (_, seed) => seed))('seed %i', (seed) => {
  const random = seeded(seed);
  const policies = policiesOf(Array.from({ length: 1 + random.integer(3) }, () => policy(random)));
  const claims = random.pick([{ sub: 'alice' }, { sub: 'alice', role: 'x' }, { sub: 'bob', role: 'y' }]);
  const { key, member, call, param } = random.pick(KEYS);
  const rules =
    key === 'tools' && random.chance(0.5)
      ? toolRules({
          tools_override: { a: { name: 'b', annotations: { readOnlyHint: true } } },
          tools_filter: random.chance(0.5) ? ['b', 'c'] : [],
        })
      : undefined;
  const known = createKnownTools();
  const items = NAMES.map((name) => ({ [member]: name, annotations: annotations(random), arguments: [{ name: 'x' }] }));
  const { body, message } = scan({ jsonrpc: '2.0', id: 1, result: { [key]: items } });
  if (message.kind !== 'response' || message.result === undefined) throw new Error('no result');
  const filtered = filterList(body, message.result, key, { claims, policies, rules, known });
  if (!filtered.ok) throw new Error(filtered.detail);
  const listed = JSON.parse(filtered.body.toString()).result[key].map((item: JsonObject) => item[member]);
  const callable = NAMES.filter((name) => {
    if (rules !== undefined && rules.ownName(name) === undefined) return false;
    // A renamed tool has the name of another tool, which therefore is in no list.
    if (rules !== undefined && !NAMES.includes(rules.ownName(name) ?? '')) return false;
    const asked = scan({ jsonrpc: '2.0', id: 2, method: call, params: { [param]: name } });
    return decideMessage(policies, { ...asked, claims, hintsOf: known.hintsOf }).allowed;
  });
  expect(listed.toSorted()).toEqual(callable.toSorted());
});

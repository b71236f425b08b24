// Tests with random policies, entities and calls that optimised decisions equal those of the Cedar engine with complete
// input. In one file, because all tests share the generator of policies and the comparison with the engine.

import { type EntityJson, isAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { expect, it } from 'vitest';
import { ACTION_WORDS, POLICY_ACTIONS, type PolicyAction, resourceId } from '#gateway/gate/policy/request.ts';
import type { JsonObject } from '#std/json.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { decide, policiesOf } from './policies.ts';

const TOOLS = ['a', 'b', 'weather'];
const SUBJECTS = ['alice', 'bob'];
const TYPES: Readonly<Record<PolicyAction, string>> = {
  call_tool: 'Tool',
  get_prompt: 'Prompt',
  read_resource: 'Resource',
  extension: 'Method',
};

interface Call {
  readonly action: PolicyAction;
  readonly name: string;
  readonly claims: JsonObject & { sub: string };
  readonly hints: { readonly readOnlyHint?: boolean };
  readonly args: JsonObject;
}

function scope(random: Random): string {
  const action = random.pick([
    'action',
    ...POLICY_ACTIONS.map((each) => `action == Action::"${each}"`),
    'action in [Action::"call_tool", Action::"get_prompt"]',
    'action in Action::"use"',
  ]);
  const resource = random.pick([
    'resource',
    'resource',
    ...Object.values(TYPES).map((type) => `resource is ${type}`),
    ...TOOLS.map((name) => `resource == ${random.pick(Object.values(TYPES))}::"${name}"`),
    'resource in Kit::"k"',
  ]);
  const principal = random.pick(['principal', 'principal', 'principal == Client::"alice"', 'principal in Group::"g"']);
  return `(${principal}, ${action}, ${resource})`;
}

function text(random: Random): string {
  return random.pick([
    'principal.claim_role',
    'context.claim_role',
    'context.arg_s',
    'resource.arg_s',
    'resource.name',
    'action.operation',
    'principal.team',
    '(if principal has claim_role then principal else principal).claim_role',
    'Client::"alice".claim_role',
    'resource.owner.claim_role',
    '{a: context}.a.arg_s',
    '"x"',
  ]);
}

type Condition = (random: Random) => string;

/** Returns a random condition. `plain` returns conditions without logical operators. */
function condition(random: Random, depth: number, plain: Condition): string {
  if (depth > 0 && random.chance(0.5)) {
    const [left, right] = [condition(random, depth - 1, plain), condition(random, depth - 1, plain)];
    return random.pick([
      `(${left} && ${right})`,
      `(${left} || ${right})`,
      `!(${left})`,
      `(if ${left} then ${right} else false)`,
    ]);
  }
  return plain(random);
}

function anything(random: Random): string {
  return random.pick([
    `${text(random)} == ${text(random)}`,
    `${text(random)} == "x"`,
    `${text(random)} like "x*"`,
    'context has arg_s',
    'context has arg_o.k',
    'context.arg_o.k == 1',
    'resource has readOnlyHint && resource.readOnlyHint',
    'principal has claim_role',
    'principal == Client::"alice"',
    'principal in [Group::"g", Client::"bob"]',
    'resource == resource.self',
    'context.arg_n > 3',
    'context.arg_d.greaterThan(decimal("1.5"))',
    'principal.claim_groups.contains("x")',
    '[context.arg_s, "y"].containsAny(context.claim_groups)',
    'context.arg_l.containsAll(["x"])',
    'context has arg_l_present && context.arg_l_present',
    'principal is Client in Group::"g"',
    'context == {claim_sub: "alice"}',
    'Group::"g".level == 3',
  ]);
}

const VALUES_COUNT: readonly string[] = [
  '(context has arg_s && context has arg_n && context.arg_s == context.arg_n)',
  '(context has arg_n && context.arg_n * 2 == 4)',
  '(context has arg_s && [context.arg_s, "q"].contains("zzz"))',
  '(context has arg_m && {a: context.arg_m}.a == 1)',
];

/** Returns a random comparison of an argument with a literal, a pattern or a claim. */
function comparison(random: Random): string {
  const [argument, claim] = [random.pick(['arg_s', 'arg_n', 'arg_m']), random.pick(['claim_role', 'claim_level'])];
  const [of, sign] = [random.pick(['context', 'resource']), random.pick(['==', '!=', '<', '<=', '>', '>='])];
  const literal = random.pick(['"x"', '"xy"', '"yx"', '""', '0', '2', '-3', 'true']);
  return random.pick([
    `${of} has ${argument}`,
    `(${of} has ${argument} && ${of}.${argument} ${sign} ${literal})`,
    `(${of} has ${argument} && ${literal} ${sign} ${of}.${argument})`,
    `(${of} has ${argument} && context has ${claim} && ${of}.${argument} ${sign} context.${claim})`,
    `(${of} has arg_s && ${of}.arg_s like "${random.pick(['x*', '*x', '*', '*y*', 'x*x', 'x*y*', '*x*yx', 'xy', ''])}")`,
    `(${of} has ${argument} && [${literal}, "y", 3].contains(${of}.${argument}))`,
    `(context has claim_groups && ${of} has ${argument} && context.claim_groups.contains(${of}.${argument}))`,
    `(${of} has arg_b && ${of}.arg_b)`,
    'context has arg_l_present',
    ...(random.chance(0.2) ? VALUES_COUNT : []),
  ]);
}

function policy(random: Random, plain: Condition = anything): string {
  const effect = random.chance(0.75) ? 'permit' : 'forbid';
  const clause = random.chance(0.2) ? '' : ` ${random.pick(['when', 'unless'])} { ${condition(random, 2, plain)} }`;
  return `${effect} ${scope(random)}${clause};`;
}

const ENTITIES: readonly EntityJson[] = [
  { uid: { type: 'Client', id: 'alice' }, attrs: { team: 'x' }, parents: [{ type: 'Group', id: 'g' }] },
  { uid: { type: 'Group', id: 'g' }, attrs: { level: 3 }, parents: [] },
  {
    uid: { type: 'Tool', id: 'a' },
    attrs: { owner: { __entity: { type: 'Client', id: 'alice' } }, self: { __entity: { type: 'Tool', id: 'a' } } },
    parents: [{ type: 'Kit', id: 'k' }],
  },
  { uid: { type: 'Action', id: 'call_tool' }, attrs: {}, parents: [{ type: 'Action', id: 'use' }] },
];

function call(random: Random): Call {
  const claims: Call['claims'] = { sub: random.pick(SUBJECTS) };
  if (random.chance(0.7)) claims.role = random.pick(['x', 'y']);
  if (random.chance(0.7)) claims.groups = random.pick([[], ['x'], ['x', 'y']]);
  const args: JsonObject = {};
  if (random.chance(0.6)) args.s = random.pick(['x', 'xy', 'y']);
  if (random.chance(0.6)) args.n = random.integer(6);
  if (random.chance(0.6)) args.d = random.pick([1.25, 2.5]);
  if (random.chance(0.6)) args.o = random.pick([{ k: 1 }, { k: 2 }, {}]);
  if (random.chance(0.6)) args.l = random.pick([[], ['x'], ['x', 'y']]);
  const hints = random.pick([{}, { readOnlyHint: true }, { readOnlyHint: false }]);
  return { action: random.pick(POLICY_ACTIONS), name: random.pick(TOOLS), claims, hints, args };
}

/** Returns all attributes of the request, as the reference implementation passes them to the engine. */
function asked({ action, name, claims, hints, args }: Call) {
  const { operation, feature } = ACTION_WORDS[action];
  const claim = Object.fromEntries(Object.entries(claims).map(([key, value]) => [`claim_${key}`, value]));
  const arg = Object.fromEntries(
    Object.entries(args).flatMap(([key, value]) => {
      const decimal = typeof value === 'number' && !Number.isInteger(value);
      const given = [`arg_${key}`, decimal ? { __extn: { fn: 'decimal', arg: String(value) } } : value];
      return typeof value === 'object' ? [given, [`arg_${key}_present`, true]] : [given];
    }),
  );
  const ofResource = {
    name: resourceId(action, name),
    operation,
    feature,
    ...(action === 'call_tool' ? hints : {}),
    ...(action === 'read_resource' ? { uri: name } : {}),
    ...arg,
  };
  return { context: { ...claim, ...arg }, claim, ofResource, ofAction: { operation } };
}

function oracle(policies: readonly string[], entities: typeof ENTITIES, request: Call): boolean {
  const { context, claim, ofResource, ofAction } = asked(request);
  const principal = { type: 'Client', id: request.claims.sub };
  const action = { type: 'Action', id: request.action };
  const resource = { type: TYPES[request.action], id: resourceId(request.action, request.name) };
  const merged = new Map(entities.map((entity) => [JSON.stringify(entity.uid), entity]));
  for (const [uid, attrs] of [
    [principal, claim],
    [action, ofAction],
    [resource, ofResource],
  ] as const) {
    const known = merged.get(JSON.stringify(uid));
    merged.set(JSON.stringify(uid), {
      uid,
      parents: known?.parents ?? [],
      attrs: { ...known?.attrs, ...attrs } as never,
    });
  }
  const asking = policies.filter((each) => request.action !== 'extension' || counts(each));
  const staticPolicies = Object.fromEntries(asking.map((each, index) => [`p${index}`, each]));
  const answer = isAuthorized({
    principal,
    action,
    resource,
    context: context as never,
    policies: { staticPolicies },
    entities: [...merged.values()],
  });
  if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
  return answer.response.decision === 'allow' && answer.response.diagnostics.errors.length === 0;
}

/** True if the policy applies to extensions: a permit must name the action `extension`. */
function counts(policy: string): boolean {
  return policy.startsWith('forbid') || policy.includes('Action::"extension"');
}

/** Returns random claims that policies compare. */
function comparedClaims(random: Random): Call['claims'] {
  const claims: Call['claims'] = { sub: random.pick(SUBJECTS) };
  if (random.chance(0.7)) claims.role = random.pick(['x', 'xy', 2]);
  if (random.chance(0.7)) claims.level = random.pick([0, 2, 'x']);
  if (random.chance(0.7)) claims.groups = random.pick([['x'], ['xy', 2], 'x']);
  return claims;
}

/** Returns a call with random arguments near the compared values. */
function comparedCall(random: Random, claims: Call['claims']): Call {
  const texts = ['', 'x', 'y', 'xy', 'yx', 'xx', 'xyx', 'xayx', 'yxy', 'zzz'];
  const values = [...texts, -4, -3, -2, 0, 1, 2, 3, 1.5, true, false, [], ['x'], { x: 1 }];
  const args: JsonObject = {};
  for (const name of ['s', 'n', 'm', 'b', 'l']) if (random.chance(0.8)) args[name] = random.pick(values);
  return { action: 'call_tool', name: 'a', claims, hints: {}, args };
}

function expectExact(policies: readonly string[], entities: typeof ENTITIES, calls: readonly Call[]): void {
  const compiled = policiesOf(policies, entities);
  for (const each of calls) {
    expect(decide(compiled, each).allowed, `${policies.join('\n')}\n${JSON.stringify(each)}`).toBe(
      oracle(policies, entities, each),
    );
  }
}

it.each(Array.from({ length: 400 }, (_, seed) => seed))('seed %i', (seed) => {
  const random = seeded(seed);
  const policies = Array.from({ length: 1 + random.integer(4) }, () => policy(random));
  const entities = random.chance(0.5) ? ENTITIES : [];
  const calls = Array.from({ length: 12 }, () => call(random));
  expectExact(policies, entities, [...calls, ...calls]);
});

it.each(Array.from({ length: 200 }, (_, seed) => seed))('comparisons of arguments, seed %i', (seed) => {
  const random = seeded(seed);
  const policies = Array.from({ length: 1 + random.integer(3) }, () => policy(random, comparison));
  const callers = [comparedClaims(random), comparedClaims(random)];
  const calls = Array.from({ length: 80 }, () => comparedCall(random, random.pick(callers)));
  expectExact(policies, [], calls);
});

/** Returns all texts of these letters up to a length. */
function textsOf(letters: readonly string[], length: number): readonly string[] {
  if (length === 0) return [''];
  const shorter = textsOf(letters, length - 1);
  return [...new Set([...shorter, ...shorter.flatMap((text) => letters.map((letter) => text + letter))])];
}

it.each(textsOf(['x', 'y', '*'], 4))('like "%s"', (pattern) => {
  const policies = [`permit(principal, action, resource) when { context.arg_s like "${pattern}" };`];
  const callOf = (s: string): Call => ({
    action: 'call_tool',
    name: 'a',
    claims: { sub: 'alice' },
    hints: {},
    args: { s },
  });
  expectExact(policies, [], textsOf(['x', 'y'], 5).map(callOf));
});

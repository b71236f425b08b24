// Tests decisions of policies: the entities, attributes and values that policies read, and the denial in case of
// errors. In one file, because most cases are rows of one form: a policy, a request and the expected decision.

import { describe, expect, it, test } from 'vitest';
import { compilePolicies } from '#gateway/gate/policy/compile.ts';
import { type Asked, decide, outcome, policiesOf } from './policies.ts';

type Row = readonly [reason: string, policy: string, asked: Asked, expected: string];

function check(_reason: string, policy: string, asked: Asked, expected: string): void {
  expect(outcome(decide(policiesOf([policy]), asked))).toBe(expected);
}

const when = (condition: string) => `permit(principal, action, resource) when { ${condition} };`;

describe('requests', () => {
  test.each<Row>([
    [
      'a tool is called',
      'permit(principal, action == Action::"call_tool", resource == Tool::"weather");',
      {},
      'allowed',
    ],
    [
      'a prompt is got',
      'permit(principal, action == Action::"get_prompt", resource == Prompt::"hello");',
      { action: 'get_prompt', name: 'hello' },
      'allowed',
    ],
    [
      'a resource is read, by its sanitised URI',
      'permit(principal, action == Action::"read_resource", resource == Resource::"file____a_b_c_d_e_f_g_h_i");',
      { action: 'read_resource', name: 'file:///a.b\\c?d&e=f#g h.i' },
      'allowed',
    ],
    [
      'other characters of a URI stay',
      'permit(principal, action, resource == Resource::"x_é-%20+[]\\"");',
      { action: 'read_resource', name: 'x:é-%20+[]"' },
      'allowed',
    ],
    ['another tool', 'permit(principal, action, resource == Tool::"other");', {}, 'policy-denied'],
    ['a tool is not a prompt', 'permit(principal, action, resource == Prompt::"weather");', {}, 'policy-denied'],
    ['another action', 'permit(principal, action == Action::"get_prompt", resource);', {}, 'policy-denied'],
    [
      'one of several actions',
      'permit(principal, action in [Action::"x", Action::"call_tool"], resource);',
      {},
      'allowed',
    ],
    ['the type of the resource', 'permit(principal, action, resource is Tool);', {}, 'allowed'],
    ['another type of resource', 'permit(principal, action, resource is Prompt);', {}, 'policy-denied'],
    ['the caller by subject', 'permit(principal == Client::"alice", action, resource);', {}, 'allowed'],
    ['another caller', 'permit(principal == Client::"bob", action, resource);', {}, 'policy-denied'],
    [
      'the right to list, which is decided item by item instead',
      'permit(principal, action == Action::"list_tools", resource == FeatureType::"tool");',
      {},
      'policy-denied',
    ],
    ['only forbidding', 'forbid(principal, action, resource == Tool::"other");', {}, 'policy-denied'],
    ['no subject', 'permit(principal, action, resource);', { claims: {} }, 'policy-caller-unknown'],
    ['an empty subject', 'permit(principal, action, resource);', { claims: { sub: '' } }, 'policy-caller-unknown'],
    [
      'a subject that is no text',
      'permit(principal, action, resource);',
      { claims: { sub: 1 } },
      'policy-caller-unknown',
    ],
    [
      'a long subject is not cut',
      `permit(principal == Client::"${'a'.repeat(400)}", action, resource);`,
      { claims: { sub: `${'a'.repeat(400)}b` } },
      'policy-denied',
    ],
  ])('%s', check);
});

describe('attributes', () => {
  test.each<Row>([
    [
      'of a tool',
      when('resource.name == "weather" && resource.operation == "call" && resource.feature == "tool"'),
      {},
      'allowed',
    ],
    [
      'of a prompt',
      when('resource.name == "hello" && resource.operation == "get" && resource.feature == "prompt"'),
      { action: 'get_prompt', name: 'hello' },
      'allowed',
    ],
    [
      'of a resource, with the URI as it is',
      when(
        'resource.uri == "a:b/c" && resource.name == "a_b_c" && resource.operation == "read" && resource.feature == "resource"',
      ),
      { action: 'read_resource', name: 'a:b/c' },
      'allowed',
    ],
    ['of the action', when('action.operation == "call"'), {}, 'allowed'],
    ['a hint', when('resource.readOnlyHint'), { hints: { readOnlyHint: true } }, 'allowed'],
    ['a hint that is false', when('resource.readOnlyHint'), { hints: { readOnlyHint: false } }, 'policy-denied'],
    ['a hint that is not there', when('resource.readOnlyHint'), {}, 'policy-error'],
    [
      'a claim of the caller',
      when('principal.claim_role == "admin"'),
      { claims: { sub: 'a', role: 'admin' } },
      'allowed',
    ],
    [
      'a claim in the context',
      when('context.claim_role == "admin"'),
      { claims: { sub: 'a', role: 'admin' } },
      'allowed',
    ],
    [
      'a claim with a strange name',
      when('principal["claim_https://x/role"] == 1'),
      { claims: { sub: 'a', 'https://x/role': 1 } },
      'allowed',
    ],
    ['an argument in the context', when('context.arg_city == "Bern"'), { args: { city: 'Bern' } }, 'allowed'],
    ['an argument of the resource', when('resource.arg_city == "Bern"'), { args: { city: 'Bern' } }, 'allowed'],
    [
      'an argument of a prompt',
      when('context.arg_city == "Bern"'),
      { action: 'get_prompt', args: { city: 'Bern' } },
      'allowed',
    ],
    ['an argument that is not there', when('context.arg_city == "Bern"'), { args: {} }, 'policy-error'],
    ['a guarded argument that is not there', when('!(context has arg_city)'), {}, 'allowed'],
    ['the whole context', when('context == {arg_a: 1, claim_sub: "alice"}'), { args: { a: 1 } }, 'allowed'],
    ['through a record', when('{a: context}.a.arg_b == 1'), { args: { b: 1 } }, 'allowed'],
    ['through a literal entity', when('Client::"alice".claim_x == 1'), { claims: { sub: 'alice', x: 1 } }, 'allowed'],
    [
      'through a condition',
      when('(if true then principal else principal).claim_x == 1'),
      { claims: { sub: 'a', x: 1 } },
      'allowed',
    ],
    [
      'a path with has',
      when('context has arg_a.b.c && context.arg_a.b.c == 1'),
      { args: { a: { b: { c: 1 } } } },
      'allowed',
    ],
  ])('%s', check);
});

describe('values', () => {
  test.each<Row>([
    ['an integer is a Long', when('context.arg_n == 5 && context.arg_n < 6'), { args: { n: 5 } }, 'allowed'],
    ['5.0 is the Long 5', when('context.arg_n == 5'), { args: '{"n": 5.0}' }, 'allowed'],
    ['-0 is 0', when('context.arg_n == 0'), { args: '{"n": -0}' }, 'allowed'],
    [
      'an integer of 64 bits keeps every digit',
      when('context.arg_n == 9007199254740993'),
      { args: '{"n": 9007199254740993}' },
      'allowed',
    ],
    [
      'the largest Long',
      when('context.arg_n == 9223372036854775807'),
      { args: '{"n": 9223372036854775807}' },
      'allowed',
    ],
    ['beyond the largest Long', when('context.arg_n > 0'), { args: '{"n": 9223372036854775808}' }, 'policy-error'],
    ['an infinite number', when('context.arg_n > 0'), { args: '{"n": 1e400}' }, 'policy-error'],
    ['1e20', when('context.arg_n > 0'), { args: '{"n": 1e20}' }, 'policy-error'],
    [
      'another number is a Decimal',
      when('context.arg_n.greaterThan(decimal("5.0"))'),
      { args: { n: 5.0001 } },
      'allowed',
    ],
    ['a Decimal is not a Long', when('context.arg_n > 5'), { args: { n: 5.5 } }, 'policy-error'],
    ['a Long is not a Decimal', when('context.arg_n.greaterThan(decimal("5.0"))'), { args: { n: 6 } }, 'policy-error'],
    [
      'more digits than a Decimal has',
      when('context.arg_n.greaterThan(decimal("0.0"))'),
      { args: { n: 0.12345 } },
      'policy-error',
    ],
    [
      'more than a Decimal holds',
      when('context.arg_n.greaterThan(decimal("0.0"))'),
      { args: { n: 922337203685477.6 } },
      'policy-error',
    ],
    [
      'a number that is not read is not looked at',
      when('context.arg_a == 1'),
      { args: { a: 1, n: 0.12345 } },
      'allowed',
    ],
    [
      'a Decimal as a claim',
      when('principal.claim_n.lessThan(decimal("2.0"))'),
      { claims: { sub: 'a', n: 1.5 } },
      'allowed',
    ],
    [
      'a list is a Set',
      when('context.arg_l.contains("a") && context.arg_l_present'),
      { args: { l: ['a', 'b'] } },
      'allowed',
    ],
    [
      'a list as a claim',
      when('principal.claim_groups.contains("eng")'),
      { claims: { sub: 'a', groups: ['eng'] } },
      'allowed',
    ],
    ['a list with null', when('["a"].containsAll(context.arg_l)'), { args: { l: ['a', null] } }, 'policy-error'],
    ['an object is present', when('context.arg_o_present'), { args: { o: { a: 1 } } }, 'allowed'],
    ['an object is a Record', when('context.arg_o.a == 1'), { args: { o: { a: 1, b: null } } }, 'allowed'],
    [
      'an object as a claim',
      when('principal.claim_realm.roles.contains("x")'),
      { claims: { sub: 'a', realm: { roles: ['x'] } } },
      'allowed',
    ],
    ['a text is not present', when('context has arg_s_present'), { args: { s: 'x' } }, 'policy-denied'],
    [
      'a large integer is not present',
      when('context has arg_n_present'),
      { args: '{"n": 9007199254740993}' },
      'policy-denied',
    ],
    [
      'null is as good as absent',
      when('!(context has arg_x) && context.arg_x_present'),
      { args: { x: null } },
      'allowed',
    ],
    ['a boolean', when('context.arg_b'), { args: { b: true } }, 'allowed'],
    [
      'half a surrogate pair',
      when('context.arg_s like "*"'),
      { args: '{"s": "\\ud800"}' },
      'policy-arguments-ambiguous',
    ],
    [
      'half a surrogate pair in a claim',
      when('context.claim_s like "*"'),
      { claims: { sub: 'a', s: '\ud800' } },
      'policy-error',
    ],
    ['a NUL, which ends a text in C', when('context.arg_s == "a"'), { args: { s: 'a\0b' } }, 'policy-error'],
    ['lists within lists', when('context.arg_l.contains([1])'), { args: { l: [[1]] } }, 'allowed'],
    [
      'too many lists within lists',
      when('context.arg_l.contains(1)'),
      { args: `{"l": ${'['.repeat(60)}${']'.repeat(60)}}` },
      'policy-error',
    ],
  ])('%s', check);
});

describe('an argument cannot', () => {
  test.each<Row>([
    [
      'pass for an entity',
      when('context.arg_a.b == Client::"admin"'),
      { args: { a: { b: { __entity: { type: 'Client', id: 'admin' } } } } },
      'policy-error',
    ],
    [
      'pass for a function',
      when('context.arg_a.b.isLoopback()'),
      { args: { a: { b: { __extn: { fn: 'ip', arg: '127.0.0.1' } } } } },
      'policy-error',
    ],
    ['be there twice', when('context.arg_a == 1'), { args: '{"a": 1, "a": 2}' }, 'policy-arguments-ambiguous'],
    [
      'be there twice within another',
      when('context.arg_a.b == 1'),
      { args: '{"a": {"b": 1, "b": 2}}' },
      'policy-arguments-ambiguous',
    ],
    [
      'be there in another case',
      when('!(context has arg_path)'),
      { args: { PATH: '/etc' } },
      'policy-arguments-ambiguous',
    ],
    [
      'be there in another case of another script',
      when('!(context has arg_straße)'.replace('arg_straße', '"arg_ärger"')),
      { args: { ÄRGER: 1 } },
      'policy-arguments-ambiguous',
    ],
    [
      'be there with the sign of the Kelvin',
      when('!(context has arg_key)'),
      { args: { '\u212Aey': 1 } },
      'policy-arguments-ambiguous',
    ],
    [
      'stand for the presence of another',
      when('!context.arg_o_present'),
      { args: { o: {}, o_present: false } },
      'policy-arguments-ambiguous',
    ],
    [
      'be present in another case',
      when('!(context has arg_o_present)'),
      { args: { O: {} } },
      'policy-arguments-ambiguous',
    ],
    [
      'hide behind the case of another of another script',
      when('context == {claim_sub: "alice", "arg_ä": 1, "arg_Ä": 2}'),
      { args: { ä: 1, Ä: 2 } },
      'policy-arguments-ambiguous',
    ],
    [
      'be there with a NUL, where C ends a key',
      when('!(context has arg_path)'),
      { args: { 'path\0x': '/etc' } },
      'policy-arguments-ambiguous',
    ],
    [
      'hide behind the case of another',
      when('context == {arg_a: 1, claim_sub: "alice"}'),
      { args: { a: 1, A: 2 } },
      'policy-arguments-ambiguous',
    ],
    ['set an attribute of its own', when('resource.readOnlyHint'), { args: { readOnlyHint: true } }, 'policy-error'],
    [
      'set a claim',
      when('context.claim_role == "admin"'),
      { args: { role: 'admin', claim_role: 'admin' } },
      'policy-error',
    ],
    ['be a prototype', when('context.arg_x == 1'), { args: '{"__proto__": {"x": 1, "arg_x": 1}}' }, 'policy-error'],
    ['be no object', when('!(context has arg_a)'), { args: '[1]' }, 'policy-arguments-ambiguous'],
  ])('%s', check);
});

describe('policies read at most 1,000 values and 64 KiB of arguments', () => {
  const has = when('context has arg_l');
  const list = (count: number, each = '1') => `{"l": [${Array.from({ length: count }, () => each).join()}]}`;
  const members = (count: number, before = '') =>
    `{${before}${Array.from({ length: count }, (_, at) => `"k${at}": 1`).join()}}`;
  const whole = when('context == {claim_sub: "alice"} || true');
  test.each<Row>([
    ['999 elements and their list', has, { args: list(999) }, 'allowed'],
    ['1,000 elements and their list', has, { args: list(1000) }, 'policy-arguments-ambiguous'],
    ['500 records of one member', has, { args: list(500, '{"a":1}') }, 'policy-arguments-ambiguous'],
    ['a text of 64 KiB, quotes included', has, { args: { l: 'x'.repeat(65_534) } }, 'allowed'],
    ['a longer text', has, { args: { l: 'x'.repeat(65_535) } }, 'policy-arguments-ambiguous'],
    ['a longer number', has, { args: `{"l": ${'1'.repeat(65_537)}}` }, 'policy-arguments-ambiguous'],
    ['much that is not read, next to it', has, { args: `{"l": 1, "m": [${'1,'.repeat(5000)}1]}` }, 'allowed'],
    ['1,000 arguments', has, { args: members(999, '"l": 1,') }, 'allowed'],
    [
      'a name of 65,537 characters',
      'permit(principal, action, resource);',
      { name: 'x'.repeat(65_537) },
      'policy-denied',
    ],
    ['1,001 arguments', has, { args: members(1000, '"l": 1,') }, 'policy-arguments-ambiguous'],
    ['the context as a whole: 1,000 arguments', whole, { args: members(1000) }, 'allowed'],
    [
      'the context as a whole: 999 arguments and what is in one of them',
      whole,
      { args: members(999, '"l": [1],') },
      'policy-arguments-ambiguous',
    ],
    [
      'the context as a whole: two texts that are too long together',
      whole,
      { args: { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) } },
      'policy-arguments-ambiguous',
    ],
  ])('%s', check);

  it('reports the limit that was exceeded', () => {
    const decision = decide(policiesOf([has]), { args: list(1000) });
    expect(decision.allowed ? '' : decision.denial.message).toMatch(/too large .* 1,000 values and 64 KiB/);
  });
});

describe('names cannot change the id of an entity', () => {
  const NAMES = [
    '"',
    '\\',
    '\\"',
    'x"); permit(principal, action, resource',
    'a\nb',
    'a::b',
    'Tool::"weather"',
    'é',
    'e\u0301',
    '\u202e',
    '\0',
    '🐝',
    '*',
    '__entity',
    ' weather',
    'weather ',
  ];

  it.each(NAMES)('%j is permitted only by the policy with this name', (name) => {
    const literal = JSON.stringify(name).replaceAll(/\\u([0-9a-f]{4})/g, '\\u{$1}');
    const policies = policiesOf([`permit(principal, action, resource == Tool::${literal});`]);
    expect(outcome(decide(policies, { name }))).toBe('allowed');
    for (const other of ['weather', ...NAMES.filter((each) => each !== name)]) {
      expect(outcome(decide(policies, { name: other })), other).toBe('policy-denied');
    }
  });

  it.each(NAMES)('%j as a subject is not the caller alice', (sub) => {
    const policies = policiesOf(['permit(principal == Client::"alice", action, resource);']);
    expect(outcome(decide(policies, { claims: { sub } }))).toBe('policy-denied');
  });

  it('refuses a lone surrogate, which the engine would read as another character', () => {
    const policies = policiesOf(['permit(principal, action, resource) when { resource.name like "*" };']);
    expect(outcome(decide(policies, { name: '\ud800' }))).toBe('policy-denied');
    expect(outcome(decide(policies, { claims: { sub: '\udc00' } }))).toBe('policy-caller-unknown');
  });
});

describe('decisions', () => {
  it('denies if a policy is in error, even if another policy permits', () => {
    const policies = policiesOf([
      'permit(principal, action, resource);',
      'forbid(principal, action, resource) when { context.claim_x == 1 };',
    ]);
    const decision = decide(policies);
    expect(outcome(decision)).toBe('policy-error');
    expect(decision).toMatchObject({ detail: 'policy1: record does not have the attribute `claim_x`' });
  });

  it('reveals no policies and no values to the caller', () => {
    const policies = policiesOf([when('decimal(context.arg_secret).lessThan(decimal("1.0"))')]);
    const decision = decide(policies, { args: { secret: 'hunter2' } });
    expect(decision).toEqual({
      allowed: false,
      denial: {
        httpStatus: 403,
        rpcCode: 403,
        code: 'policy-error',
        message: 'Unauthorized: a policy could not be evaluated.',
      },
      detail: 'policy0: it could not be evaluated',
    });
  });

  it('caches decisions by the claims that policies read, and by no other claims', () => {
    const policies = policiesOf([when('principal.claim_role == "admin"')]);
    const admin = { sub: 'alice', role: 'admin', exp: 1 };
    expect(outcome(decide(policies, { claims: admin }))).toBe('allowed');
    expect(outcome(decide(policies, { claims: { ...admin, role: 'user' } }))).toBe('policy-denied');
    expect(outcome(decide(policies, { claims: { ...admin, exp: 2 } }))).toBe('allowed');
    expect(outcome(decide(policies, { claims: { sub: 'alice' } }))).toBe('policy-error');
  });

  it('distinguishes tools, prompts and resources with the same name', () => {
    const policies = policiesOf(['permit(principal, action == Action::"call_tool", resource);']);
    expect(outcome(decide(policies, { name: 'x' }))).toBe('allowed');
    expect(outcome(decide(policies, { name: 'x', action: 'get_prompt' }))).toBe('policy-denied');
    expect(outcome(decide(policies, { name: 'x', action: 'read_resource' }))).toBe('policy-denied');
  });

  it('distinguishes two URIs with the same entity id', () => {
    const policies = policiesOf([when('resource.uri == "file:a"')]);
    expect(outcome(decide(policies, { name: 'file:a', action: 'read_resource' }))).toBe('allowed');
    expect(outcome(decide(policies, { name: 'file/a', action: 'read_resource' }))).toBe('policy-denied');
  });

  it('decides again if policies read arguments, and by the hints of the call', () => {
    const byArgument = policiesOf([when('context.arg_n == 1')]);
    expect(outcome(decide(byArgument, { args: { n: 1 } }))).toBe('allowed');
    expect(outcome(decide(byArgument, { args: { n: 2 } }))).toBe('policy-denied');
    const byHint = policiesOf([when('resource has readOnlyHint && resource.readOnlyHint')]);
    expect(outcome(decide(byHint, { hints: { readOnlyHint: true } }))).toBe('allowed');
    expect(outcome(decide(byHint, { hints: { readOnlyHint: false } }))).toBe('policy-denied');
    expect(outcome(decide(byHint, {}))).toBe('policy-denied');
  });

  it('distinguishes a claim that Cedar cannot express from an absent claim', () => {
    const policies = policiesOf([when('!(context has claim_level && context.claim_level > 3)')]);
    expect(outcome(decide(policies, { claims: { sub: 'alice', level: null } }))).toBe('allowed');
    expect(outcome(decide(policies, { claims: JSON.parse('{"sub": "alice", "level": 1e400}') }))).toBe('policy-error');
  });

  it('reports whether policies read hints or arguments', () => {
    expect(policiesOf([when('resource.readOnlyHint')])).toMatchObject({ readsHints: true, readsArguments: false });
    expect(policiesOf([when('context.arg_a == 1')])).toMatchObject({ readsHints: false, readsArguments: true });
    expect(policiesOf([when('context == {}')])).toMatchObject({ readsHints: false, readsArguments: true });
    expect(policiesOf([when('principal.claim_a == 1')])).toMatchObject({ readsHints: false, readsArguments: false });
  });
});

describe('entities of the file', () => {
  const ENTITIES = [
    {
      uid: { type: 'Client', id: 'alice' },
      attrs: { team: 'red', claim_role: 'user' },
      parents: [{ type: 'Group', id: 'eng' }],
    },
    { uid: { type: 'Group', id: 'eng' }, attrs: { level: 3 }, parents: [{ type: 'Group', id: 'all' }] },
    { uid: { type: 'Group', id: 'all' }, attrs: {}, parents: [] },
    {
      uid: { type: 'Tool', id: 'weather' },
      attrs: { owner: { __entity: { type: 'Client', id: 'alice' } }, name: 'other' },
      parents: [],
    },
    { uid: { type: 'Action', id: 'call_tool' }, attrs: {}, parents: [{ type: 'Action', id: 'use' }] },
  ];

  test.each<readonly [reason: string, policy: string, asked: Asked, expected: string]>([
    ['the caller is in a group', 'permit(principal in Group::"all", action, resource);', {}, 'allowed'],
    [
      'another caller is not',
      'permit(principal in Group::"all", action, resource);',
      { claims: { sub: 'bob' } },
      'policy-denied',
    ],
    ['the action is in a group', 'permit(principal, action in Action::"use", resource);', {}, 'allowed'],
    ['an attribute of the caller', when('principal.team == "red"'), {}, 'allowed'],
    ['a claim wins', when('principal.claim_role == "admin"'), { claims: { sub: 'alice', role: 'admin' } }, 'allowed'],
    ['attributes of the request override attributes in the file', when('resource.name == "weather"'), {}, 'allowed'],
    [
      'through an attribute to the caller',
      when('resource.owner.claim_role == "admin"'),
      { claims: { sub: 'alice', role: 'admin' } },
      'allowed',
    ],
    ['an attribute of a group', when('Group::"eng".level == 3'), {}, 'allowed'],
  ])('%s', (_reason, policy, asked, expected) => {
    expect(outcome(decide(policiesOf([policy], ENTITIES), asked))).toBe(expected);
  });
});

describe('files that cannot be used', () => {
  test.each<readonly [reason: string, policies: readonly string[], entities: string | undefined, message: string]>([
    [
      'broken syntax',
      ['permit(principal, action, resource);', 'permit(principal'],
      undefined,
      'policy 2, line 1, column 17',
    ],
    ['a template', ['permit(principal == ?principal, action, resource);'], undefined, 'a template'],
    ['no policy', ['// nothing'], undefined, 'it contains no policy'],
    ['broken entities', ['permit(principal, action, resource);'], '{', 'entities_json: '],
    ['entities that are no list', ['permit(principal, action, resource);'], '{}', 'entities_json: must be a JSON list'],
    ['too much nesting', [when(`${'('.repeat(1000)}true${')'.repeat(1000)}`)], undefined, 'nested too deeply'],
  ])('%s', (_reason, policies, entities_json, message) => {
    const compiled = compilePolicies({
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: [...policies], entities_json },
    });
    expect(compiled).toMatchObject({ ok: false, faults: [{ message: expect.stringContaining(message) }] });
  });

  it('keeps the policies in use if a file damages the engine', () => {
    const policies = policiesOf([when('context.arg_n == 1')]);
    expect(outcome(decide(policies, { args: { n: 1 } }))).toBe('allowed');
    const deep = when(`${'('.repeat(1000)}true${')'.repeat(1000)}`);
    expect(compilePolicies({ version: '1.0', type: 'cedarv1', cedar: { policies: [deep] } }).ok).toBe(false);
    expect(outcome(decide(policies, { args: { n: 1 } }))).toBe('allowed');
    expect(outcome(decide(policies, { args: { n: 2 } }))).toBe('policy-denied');
  });

  it('reads several policies from one text', () => {
    const policies = policiesOf([
      'permit(principal, action, resource); forbid(principal, action, resource == Tool::"x");',
    ]);
    expect(outcome(decide(policies))).toBe('allowed');
    expect(outcome(decide(policies, { name: 'x' }))).toBe('policy-denied');
  });
});

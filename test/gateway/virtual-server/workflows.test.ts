// Tests each setting of a workflow in a virtual server with real MCP servers. In one file, because all tests share the
// servers.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestMember } from './member.ts';
import {
  callFlow,
  type Members,
  readCalled,
  runOnce,
  serveWorkflows,
  startMembers,
  workflow,
} from './workflow-world.ts';
import { connect, type TestedVirtualServer } from './world.ts';

let members: Members;
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  members = await startMembers();
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => members.close());

async function serve(...given: Parameters<typeof serveWorkflows> extends [unknown, ...infer Rest] ? Rest : never) {
  const server = await serveWorkflows(members, ...given);
  running.push(server);
  return server;
}

/** Returns the arguments of the received calls of a tool, oldest first. */
function argumentsOf(member: TestMember, name: string) {
  const calls = member.asked.filter(({ message }) => message?.method === 'tools/call' && message.params.name === name);
  return calls.map(({ message }) => message.params.arguments);
}

const FIND = { id: 'find', tool: 'wiki.find', arguments: { q: '{{.params.q}}' } };

describe('annotations of a workflow', () => {
  const shown = async (annotations: object, steps: readonly object[] = [FIND]) => {
    const server = await serve([workflow(steps as Parameters<typeof workflow>[0], { annotations })]);
    const { tools } = await (await connect(server)).ask('tools/list');
    const found = tools.find(({ name }: { name: string }) => name === 'flow');
    return [found?.annotations, server.log.filter(({ msg }) => String(msg).includes('is not offered')).length];
  };

  it('are declared by its author, or derived from its steps', async () => {
    const least = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
    expect(await shown({ title: 'Finds' })).toEqual([{ ...least, title: 'Finds' }, 0]);
    expect(await shown({ idempotentHint: true })).toEqual([{ ...least, idempotentHint: true }, 0]);
    const read = { id: 'read', tool: 'wiki.read', arguments: {} };
    const promised = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    expect(await shown({ title: 'Reads' }, [read])).toEqual([{ ...promised, title: 'Reads' }, 0]);
    expect(await shown({ readOnlyHint: false }, [read])).toEqual([{ ...promised, readOnlyHint: false }, 0]);
    expect(await shown(promised, [read])).toEqual([promised, 0]);
  });

  it.each([{ readOnlyHint: true }, { destructiveHint: false }, { openWorldHint: false }])(
    'cannot promise more than its steps allow: %o',
    async (annotations) => {
      expect(await shown(annotations)).toEqual([undefined, 1]);
    },
  );
});

describe('a workflow as clients see it', () => {
  it('is a tool with the schemas of its parameters and of its output', async () => {
    const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
    const output = {
      properties: {
        title: { type: 'string', description: 'what it is called', value: '{{.steps.find.output.title}}' },
      },
      required: ['title'],
    };
    const server = await serve([workflow([FIND], { parameters, output })]);
    const { tools } = await (await connect(server)).ask('tools/list');
    expect(tools.find(({ name }: { name: string }) => name === 'flow')).toEqual({
      name: 'flow',
      description: 'a workflow',
      inputSchema: parameters,
      outputSchema: {
        type: 'object',
        properties: { title: { type: 'string', description: 'what it is called' } },
        required: ['title'],
      },
    });
  });

  it('accepts arguments that match its schema, and adds the defaults', async () => {
    const parameters = {
      type: 'object',
      properties: { q: { type: 'string', minLength: 2 }, n: { type: 'integer', default: 1_000_000 } },
      required: ['q'],
    };
    const flow = workflow([{ ...FIND, arguments: { q: '{{.params.q}} {{.params.n}}' } }], { parameters });
    const client = await connect(await serve([flow]));
    expect((await callFlow(client, { q: 'bees' })).output.title).toBe('about bees 1000000');
    const refused = await callFlow(client, { q: 'b', n: 'x' });
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining('/q must have at least 2 characters; /n must be integer'),
    });
  });

  it('is hidden if a required tool is missing, unless a missing backend is an error', async () => {
    const lacking = workflow([{ id: 'a', tool: 'wiki.gone' }]);
    const usual = (await serve([lacking])).config.operational;
    const modes = (['fail', 'best_effort'] as const).map(async (partialFailureMode) => {
      const operational = { ...usual, failureHandling: { ...usual.failureHandling, partialFailureMode } };
      const client = await connect(await serve([lacking], { operational }));
      const { tools } = await client.ask('tools/list');
      return [tools.some(({ name }: { name: string }) => name === 'flow'), (await callFlow(client)).text];
    });
    expect(await Promise.all(modes)).toEqual([
      [true, expect.stringContaining('step a: no backend has the tool wiki.gone now')],
      [false, expect.stringContaining('Unknown tool: flow')],
    ]);
  });

  it('changes with the configuration in existing sessions', async () => {
    const server = await serve([workflow([FIND])]);
    const client = await connect(server);
    const stream = await client.open();
    await client.ask('tools/list');
    server.replace({ ...server.config, compositeTools: [workflow([FIND], { name: 'other' })] });
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect((await callFlow(client, { q: 'a' }, 'other')).output.title).toBe('about a');
    expect((await callFlow(client, { q: 'a' })).text).toContain('Unknown tool: flow');
    stream.close();
  });
});

describe('steps', () => {
  it('start as soon as their dependencies are complete, without waiting for a whole level', async () => {
    const flow = workflow([
      { id: 'slow', tool: 'mail.hang' },
      { id: 'a', tool: 'wiki.find', arguments: { q: 'a' } },
      { id: 'b', tool: 'wiki.find', dependsOn: ['a'], arguments: { q: 'after {{.steps.a.output.title}}' } },
      { id: 'last', tool: 'wiki.typed', dependsOn: ['slow', 'b'], arguments: { on: 'x' } },
    ]);
    const client = await connect(await serve([flow]));
    const hanging = members.mail.hanging();
    const called = callFlow(client);
    const slow = await hanging;
    // A step of the second level runs while a step of the first level still waits.
    await expect.poll(() => argumentsOf(members.wiki, 'find').at(-1)).toEqual({ q: 'after about a' });
    slow.respond({ content: [] });
    expect((await called).output).toEqual({ args: { on: 'x' } });
  });

  it('can call hidden tools', async () => {
    const flow = workflow([{ id: 'a', tool: 'wiki.hidden', arguments: { deep: { text: '{{.params.q}}' }, n: 5 } }]);
    const tools = [{ workload: 'wiki', filter: ['find'], excludeAll: false }];
    const aggregation = {
      conflictResolution: 'prefix' as const,
      conflictResolutionConfig: { prefixFormat: '{workload}_' },
      excludeAllTools: true,
      tools,
    };
    const client = await connect(await serve([flow], { aggregation }));
    const { tools: listed } = await client.ask('tools/list');
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['flow']);
    // Nested values are not evaluated as templates.
    expect(JSON.parse((await callFlow(client)).output.text).args).toEqual({ deep: { text: '{{.params.q}}' }, n: 5 });
  });

  it('get arguments with the types of the tool schema, without absent values', async () => {
    const given = {
      n: '{{.params.n}}',
      list: '{{json .params.list}}',
      on: '{{eq .params.n 3}}',
      note: '{{.params.note}}',
    };
    const called = await runOnce(
      members,
      workflow([{ id: 'a', tool: 'wiki.typed', arguments: given }], {
        parameters: {
          type: 'object',
          properties: { n: { type: 'integer' }, list: { type: 'array' }, note: { type: 'string' } },
        },
      }),
      { n: 3, list: [1, 'b'] },
    );
    expect(called.output).toEqual({ args: { n: 3, list: [1, 'b'], on: true } });
  });

  it('are skipped if their condition is false, with their defaultResults as results', async () => {
    const flow = workflow([
      { ...FIND, condition: '{{eq .params.q "yes"}}', defaultResults: { title: 'none' } },
      {
        id: 'end',
        tool: 'wiki.typed',
        dependsOn: ['find'],
        arguments: { on: '{{.steps.find.status}}', n: '{{.steps.find.output.title}}' },
      },
    ]);
    expect((await runOnce(members, flow, { q: 'no' })).output.args).toEqual({ on: 'skipped', n: 'none' });
    expect((await runOnce(members, flow, { q: 'yes' })).output.args).toEqual({ on: 'completed', n: 'about yes' });
    const wrong = workflow([{ ...FIND, condition: '{{.params.q}}' }]);
    expect((await runOnce(members, wrong, { q: 'perhaps' })).text).toContain(
      'must result in true or false, not "perhaps"',
    );
  });

  it('fail after their timeout, and the tool gets a cancellation', async () => {
    const flow = workflow([{ id: 'slow', tool: 'mail.hang', timeout: '100ms' }]);
    expect((await runOnce(members, flow)).text).toBe('Workflow execution failed: step slow: it took more than 100 ms');
    await expect
      .poll(() => members.mail.asked.some(({ message }) => message?.method === 'notifications/cancelled'))
      .toBe(true);
  });

  it('end with a workflow that exceeds its timeout', async () => {
    const flow = workflow([{ id: 'slow', tool: 'mail.hang' }], { timeout: '100ms' });
    expect((await runOnce(members, flow)).text).toBe(
      'Workflow execution timed out: it took more than 100 ms; still running: slow',
    );
  });
});

describe('a failing step', () => {
  it('ends the workflow by default, with the message of the tool', async () => {
    const called = await runOnce(
      members,
      workflow([
        { id: 'a', tool: 'wiki.fail' },
        { id: 'b', tool: 'wiki.find', dependsOn: ['a'] },
      ]),
    );
    expect(called).toMatchObject({
      isError: true,
      text: 'Workflow execution failed: step a: the tool wiki.fail fails: the disk is full',
    });
  });

  it('has its defaultResults if the workflow continues', async () => {
    const flow = workflow([
      { id: 'a', tool: 'wiki.fail', onError: { action: 'continue' }, defaultResults: { n: 7 } },
      {
        id: 'b',
        tool: 'wiki.typed',
        dependsOn: ['a'],
        arguments: { n: '{{.steps.a.output.n}}', on: '{{.steps.a.error}}' },
      },
    ]);
    expect((await runOnce(members, flow)).output.args).toEqual({
      n: 7,
      on: 'the tool wiki.fail fails: the disk is full',
    });
  });

  it('is retried the configured number of times', async () => {
    const retry = (retryCount: number) =>
      workflow([
        {
          id: 'a',
          tool: 'wiki.flaky',
          arguments: { failures: 2, key: retryCount },
          onError: { action: 'retry', retryCount, retryDelay: '1ms' },
        },
      ]);
    expect((await runOnce(members, retry(2))).output).toEqual({ tries: 3 });
    expect((await runOnce(members, retry(1))).text).toContain(
      'step a: the tool wiki.flaky fails: try 2 (after 2 tries)',
    );
  });

  it('in a template leads to an error with path and reason', async () => {
    const flow = workflow([{ id: 'a', tool: 'wiki.typed', arguments: { n: 'x {{index .params.list 3}}' } }]);
    expect((await runOnce(members, flow, { list: [1] })).text).toBe(
      'Workflow execution failed: step a: argument n: the template x {{index .params.list 3}} fails at character 24: the index 3 is out of range: there are 1',
    );
  });
});

describe('forEach', () => {
  const loop = (more: object, inner: object = {}) =>
    workflow([
      {
        id: 'all',
        type: 'forEach',
        collection: '{{json .params.list}}',
        step: { tool: 'wiki.typed', arguments: { n: '{{.forEach.index}}', on: '{{.forEach.item}}' }, ...inner },
        ...more,
      },
    ]);

  it('calls a tool for each item, and returns each result', async () => {
    const { output } = await runOnce(members, loop({}), { list: ['a', 'b'] });
    expect(output).toEqual({
      iterations: [
        { index: 0, item: 'a', status: 'completed', output: { args: { n: 0, on: 'a' } } },
        { index: 1, item: 'b', status: 'completed', output: { args: { n: 1, on: 'b' } } },
      ],
      count: 2,
      completed: 2,
      failed: 0,
    });
    expect((await runOnce(members, loop({}), { list: [] })).output).toEqual({
      iterations: [],
      count: 0,
      completed: 0,
      failed: 0,
    });
  });

  it('supports an item variable, conditions, defaults and retries for each item', async () => {
    const flow = loop(
      { itemVar: 'page' },
      { condition: '{{ne .forEach.page "b"}}', arguments: { on: '{{.forEach.page}}' }, defaultResults: { none: true } },
    );
    const { output } = await runOnce(members, flow, { list: ['a', 'b'] });
    expect(output.iterations).toEqual([
      { index: 0, item: 'a', status: 'completed', output: { args: { on: 'a' } } },
      { index: 1, item: 'b', status: 'skipped', output: { none: true } },
    ]);
    const again = loop(
      {},
      {
        tool: 'wiki.flaky',
        arguments: { failures: 1, key: 'item' },
        onError: { action: 'retry', retryCount: 1, retryDelay: '1ms' },
      },
    );
    expect((await runOnce(members, again, { list: [1] })).output.iterations[0].output).toEqual({ tries: 2 });
  });

  it('makes at most maxParallel calls at the same time', async () => {
    const flow = loop({ maxParallel: 2 }, { tool: 'mail.hang', arguments: { on: '{{.forEach.item}}' } });
    const client = await connect(await serve([flow]));
    const before = argumentsOf(members.mail, 'hang').length;
    const [first, second] = [members.mail.hanging(), members.mail.hanging()];
    const called = callFlow(client, { list: [1, 2, 3] });
    const hung = await Promise.all([first, second]);
    expect(argumentsOf(members.mail, 'hang').length - before).toBe(2);
    const third = members.mail.hanging();
    for (const each of hung) each.respond({ content: [] });
    (await third).respond({ content: [] });
    expect((await called).output.completed).toBe(3);
  });

  it('refuses more items than maxIterations, which is 100 by default and at most 1000', async () => {
    const list = Array.from({ length: 101 }, (_, index) => index);
    expect((await runOnce(members, loop({}), { list })).text).toContain(
      'the collection has 101 items, but maxIterations is 100',
    );
    expect((await runOnce(members, loop({ maxIterations: 101 }), { list })).output.completed).toBe(101);
    const many = Array.from({ length: 1001 }, (_, index) => index);
    expect((await runOnce(members, loop({ maxIterations: 5000 }), { list: many })).text).toContain(
      'maxIterations is 1000',
    );
    expect(
      (await runOnce(members, loop({ maxIterations: 1000, maxParallel: 50 }), { list: many.slice(1) })).output
        .completed,
    ).toBe(1000);
  });

  it('ends at the first failure, or collects all failures', async () => {
    const inner = { tool: 'wiki.fail', arguments: {} };
    expect((await runOnce(members, loop({}, inner), { list: [1, 2] })).text).toContain(
      'step all: item 0: the tool wiki.fail fails: the disk is full',
    );
    const collected = { status: 'failed', error: 'the tool wiki.fail fails: the disk is full' };
    const outer = await runOnce(members, loop({ onError: { action: 'continue' } }, inner), { list: [1, 2] });
    expect(outer.output).toMatchObject({ iterations: [collected, collected], completed: 0, failed: 2 });
    const itself = await runOnce(
      members,
      loop({}, { ...inner, onError: { action: 'continue' }, defaultResults: { n: 0 } }),
      { list: [1] },
    );
    expect(itself.output.iterations).toEqual([{ index: 0, item: 1, output: { n: 0 }, ...collected }]);
    const broken = await runOnce(
      members,
      loop({ collection: '{{.params.gone}}', onError: { action: 'continue' }, defaultResults: { count: 0 } }),
      { list: [1] },
    );
    expect(broken.output).toEqual({ count: 0 });
  });
});

describe('the output', () => {
  const typed = (properties: object, required: string[] = []) => workflow([FIND], { output: { properties, required } });

  it('has the declared types, including integers', async () => {
    const flow = typed({
      title: { type: 'string', value: '{{.steps.find.output.title}}' },
      n: { type: 'integer', value: '{{.steps.find.output.n}}' },
      items: { type: 'array', value: '{{json .steps.find.output.items}}' },
      found: { type: 'boolean', value: '{{gt (len .steps.find.output.items) 0}}' },
      share: { type: 'number', value: '2.5' },
      about: { type: 'object', properties: { q: { type: 'string', value: '{{.params.q}}' } } },
    });
    expect((await runOnce(members, flow, { q: 'x' })).output).toEqual({
      title: 'about x',
      n: 1_000_000,
      items: [1, 2, 3],
      found: true,
      share: 2.5,
      about: { q: 'x' },
    });
  });

  it('has its defaults if a template returns nothing or fails', async () => {
    const flow = typed({
      gone: { type: 'integer', value: '{{.steps.find.output.gone}}', default: '7' },
      broken: { type: 'array', value: '{{index .steps.find.output.items 9}}', default: [] },
      left: { type: 'string', value: '{{.steps.find.output.gone}}' },
    });
    expect((await runOnce(members, flow, { q: 'x' })).output).toEqual({ gone: 7, broken: [] });
  });

  it('is a clear error if a required value is missing, a template fails, or a type differs', async () => {
    const value = (template: string, type = 'string') => ({ it: { type, value: template } });
    const texts = [
      await runOnce(members, typed(value('{{.steps.find.output.gone}}'), ['it']), { q: 'x' }),
      await runOnce(members, typed(value('{{index .steps.find.output.items 9}}')), { q: 'x' }),
      await runOnce(members, typed(value('{{.steps.find.output.title}}', 'integer')), { q: 'x' }),
      await runOnce(
        members,
        typed(value('{{define "a"}}{{if .}}{{template "a" .}}{{end}}{{end}}{{template "a" .params}}')),
        { q: 'x' },
      ),
    ].map(({ text }) => text.replace('Workflow execution failed: ', ''));
    expect(texts).toEqual([
      'output it is required, but its template has no result',
      'output it: the template {{index .steps.find.output.items 9}} fails at character 34: the index 9 is out of range: there are 3',
      'output it must be of type integer, but its template results in "about x"',
      expect.stringContaining('templates call one another more than 100 deep'),
    ]);
  });

  it('without a definition is the output of the last step in the list', async () => {
    const flow = workflow([
      { id: 'a', tool: 'wiki.find', dependsOn: ['b'], arguments: { q: 'a' } },
      { id: 'b', tool: 'wiki.find', arguments: { q: 'b' } },
    ]);
    expect((await runOnce(members, flow)).output.title).toBe('about b');
  });
});

it('policies decide each inner call, and the caller gets the denial', async () => {
  const policies = [
    'permit(principal, action == Action::"call_tool", resource == Tool::"flow");',
    'permit(principal, action == Action::"call_tool", resource == Tool::"wiki_find");',
  ];
  const flow = workflow([FIND, { id: 'b', tool: 'wiki.hidden', dependsOn: ['find'] }]);
  const client = await connect(
    await serve([flow], { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } } }),
  );
  expect((await callFlow(client, { q: 'x' })).text).toContain('step b: the caller may not call the tool wiki.hidden');
});

it('progress is reported after each step, to clients that request it', async () => {
  const client = await connect(
    await serve([workflow([FIND, { id: 'b', tool: 'wiki.find', dependsOn: ['find'], arguments: { q: 'b' } }])]),
  );
  const params = { name: 'flow', arguments: { q: 'x' }, _meta: { progressToken: 'p' } };
  const stream = await client.open({ id: 9, method: 'tools/call', params });
  expect(await stream.next()).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 1, total: 2, message: 'step find completed' },
  });
  expect(await stream.next()).toMatchObject({ params: { progress: 2, message: 'step b completed' } });
  expect(readCalled((await stream.next()).result).output.title).toBe('about b');
  stream.close();
});

it('a call that its client cancels stops its steps', async () => {
  const client = await connect(await serve([workflow([{ id: 'slow', tool: 'mail.hang' }])]));
  const hanging = members.mail.hanging();
  const call = client.open({ id: 12, method: 'tools/call', params: { name: 'flow', arguments: {} } });
  const slow = await hanging;
  await client.post({ method: 'notifications/cancelled', params: { requestId: 12 } });
  await slow.closed;
  call.catch(() => undefined);
});

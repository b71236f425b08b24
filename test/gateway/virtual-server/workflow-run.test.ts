// Tests workflow runs with simulated tool calls and time, for limits that real servers would reach slowly.

import { describe, expect, it } from 'vitest';
import { retryDelay } from '#gateway/virtual-server/workflows/attempt.ts';
import { defineWorkflow } from '#gateway/virtual-server/workflows/definition.ts';
import type { RunEvent, RunPorts } from '#gateway/virtual-server/workflows/ports.ts';
import { runWorkflow } from '#gateway/virtual-server/workflows/run.ts';
import { stepsToStart } from '#gateway/virtual-server/workflows/schedule.ts';
import type { JsonObject } from '#std/json.ts';
import { workflow } from './workflow-world.ts';

type CallTool = (tool: string, given: JsonObject) => Promise<JsonObject> | JsonObject;

function portsOf(callTool: CallTool, events: RunEvent[] = []): RunPorts {
  return {
    clock: { now: () => 0, monotonic: () => 0, after: () => () => undefined, random: (size) => Buffer.alloc(size) },
    async callTool(_step, tool, given, signal) {
      const aborted = new Promise<undefined>((resolve) => {
        if (signal.aborted) resolve(undefined);
        signal.addEventListener('abort', () => resolve(undefined));
      });
      const structuredContent = await Promise.race([callTool(tool, given), aborted]);
      return structuredContent === undefined ? { kind: 'aborted' } : { kind: 'result', result: { structuredContent } };
    },
    inputSchema: async () => undefined,
    askPerson: async () => ({ action: 'cancel' }),
    observe: (event) => events.push(event),
  };
}

function run(
  flow: ReturnType<typeof workflow>,
  callTool: CallTool,
  events: RunEvent[] = [],
  signal = new AbortController().signal,
  params: JsonObject = {},
) {
  return runWorkflow(defineWorkflow(flow), params, portsOf(callTool, events), signal);
}

/** Returns a tool call function, and the maximum number of its parallel calls. */
function countCalls() {
  let [now, most] = [0, 0];
  const callTool = async () => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
    return {};
  };
  return { callTool, most: () => most };
}

describe('a run', () => {
  it('runs at most ten steps at the same time', async () => {
    const calls = countCalls();
    await run(workflow(Array.from({ length: 30 }, (_, index) => ({ id: `s${index}`, tool: 'a.b' }))), calls.callTool);
    expect(calls.most()).toBe(10);
  });

  it.each([
    [{}, 10],
    [{ maxParallel: 2 }, 2],
    [{ maxParallel: 90 }, 50],
  ])('with %j runs at most %i items at the same time', async (more, most) => {
    const calls = countCalls();
    const list = Array.from({ length: 100 }, (_, index) => index);
    const loop = { id: 'all', type: 'forEach', collection: '{{json .params.list}}', step: { tool: 'a.b' }, ...more };
    await run(workflow([loop]), calls.callTool, [], undefined, { list });
    expect(calls.most()).toBe(most);
  });

  it('ends if the results of steps or items become too large', async () => {
    const text = 'x'.repeat(2 ** 20);
    const loop = workflow([
      {
        id: 'all',
        type: 'forEach',
        collection: '{{json .params.list}}',
        step: { tool: 'a.b' },
      },
    ]);
    const list = Array.from({ length: 100 }, (_, index) => index);
    const message = expect.stringContaining('the results of the workflow are more than 64 MiB');
    expect(await run(loop, () => ({ text }), [], undefined, { list })).toEqual({ kind: 'failed', message });
    const steps = workflow(Array.from({ length: 70 }, (_, index) => ({ id: `s${index}`, tool: 'a.b' })));
    expect(await run(steps, () => ({ text }))).toEqual({ kind: 'failed', message });
  });

  it('that is cancelled stops its running steps, and starts no more steps', async () => {
    const controller = new AbortController();
    const events: RunEvent[] = [];
    const flow = workflow([
      { id: 'a', tool: 'a.b' },
      { id: 'b', tool: 'a.b', dependsOn: ['a'] },
    ]);
    const ran = run(flow, () => new Promise(() => undefined), events, controller.signal);
    controller.abort();
    expect(await ran).toEqual({ kind: 'cancelled' });
    expect(events.flatMap((event) => (event.kind === 'step-ended' ? [[event.step, event.end]] : []))).toEqual([
      ['a', 'cancelled'],
    ]);
    expect(await run(flow, () => ({}), [], controller.signal)).toEqual({ kind: 'cancelled' });
  });

  it('provides its status, step count and times to templates', async () => {
    const value = '{{.workflow.status}} {{.workflow.step_count}} {{.workflow.start_time}} {{.workflow.duration_ms}}';
    const flow = workflow([{ id: 'a', tool: 'a.b' }], { output: { properties: { it: { type: 'string', value } } } });
    expect(await run(flow, () => ({}))).toEqual({
      kind: 'completed',
      output: { it: 'running 1 1970-01-01T00:00:00.000Z 0' },
    });
  });
});

it('the delay of retries grows by half each time, and half of it is random', () => {
  const delays = [1, 2, 3, 20].map((tries) => retryDelay({ count: 10, delayMs: 100 }, tries, 0.5));
  expect(delays).toEqual([100, 150, 225, 6000]);
  expect([0, 1].map((chance) => retryDelay({ count: 1, delayMs: 100 }, 1, chance))).toEqual([50, 150]);
});

it('steps start in the order of the list, up to the limit of parallel steps', () => {
  const steps = ['a', 'b', 'c', 'd'].map((id) => ({ id, dependsOn: id === 'd' ? ['a'] : [] }));
  const status = { a: 'failed', b: 'running', c: 'pending', d: 'pending' } as const;
  const ids = (most: number) => stepsToStart(steps, (id) => status[id as 'a'], most).map(({ id }) => id);
  expect([ids(10), ids(2), ids(1)]).toEqual([['c', 'd'], ['c'], []]);
});

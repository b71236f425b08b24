import { expect, test } from 'vitest';
import type { Answer, Exchange } from '../../backends/backend.ts';
import { createKnownTools } from '../../gate/known-tools.ts';
import { compilePolicies } from '../../gate/policy/compile.ts';
import { scanMessage } from '../../wire/scan.ts';
import { createSessionSeal } from '../../wire/seal.ts';
import { ANONYMOUS } from '../caller.ts';
import { createRules } from '../rules.ts';
import { type ListRead, readNeeded } from './read-needed.ts';

const POLICIES = ['permit(principal, action, resource) when { resource.readOnlyHint };'];

function read() {
  const compiled = compilePolicies({ version: '1.0', type: 'cedarv1', cedar: { policies: POLICIES } });
  if (!compiled.ok) throw new Error('the policies are broken');
  const rules = createRules({ policies: compiled.policies, known: createKnownTools(), unreadable: () => undefined });
  const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}');
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  const pages: { readonly exchange: Exchange; readonly answer: Answer; aborted: boolean }[] = [];
  const failures: ListRead[] = [];
  const timers: { readonly ms: number; readonly task: () => void }[] = [];
  const giveUp = readNeeded(
    {
      world: {
        seal: createSessionSeal({ keys: [Buffer.alloc(32)], random: Buffer.alloc }),
        rules,
        live: { current: () => rules, onChange: () => () => undefined },
        credential: ({ headers }) => ({ ok: true, headers }),
        rateLimits: undefined,
        messageBytes: 1000,
      },
      open(exchange, answer) {
        const page = { exchange, answer, aborted: false };
        pages.push(page);
        return { abort: () => void Object.assign(page, { aborted: true }) };
      },
      incoming: {
        method: 'POST',
        path: '/mcp',
        headers: {},
        body,
        caller: ANONYMOUS,
        trace: () => ({}),
        forwarded: {},
      },
      needed: { message: scanned.message, need: 'hints', list: 'tools', scope: '' },
      clock: {
        after(ms, task) {
          timers.push({ ms, task });
          return () => undefined;
        },
        random: Buffer.alloc,
      },
    },
    (failure) => failures.push(failure),
  );
  return { pages, failures, timers, giveUp };
}

function answerPage({ exchange, answer }: { exchange: Exchange; answer: Answer }, result: object): void {
  const id = exchange.message?.kind === 'request' ? JSON.parse(exchange.message.id.json) : undefined;
  answer.head(200, { 'content-type': 'application/json' });
  answer.data(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result })));
  answer.end();
}

test('refuses the call and aborts the reading if the list is not complete within 30 s, on any page', () => {
  const { pages, failures, timers } = read();
  const [first] = pages;
  if (first === undefined) throw new Error('no page was read');
  answerPage(first, { tools: [], nextCursor: 'two' });
  expect(timers.map(({ ms }) => ms)).toEqual([30_000]);
  timers[0]?.task();
  expect(failures).toMatchObject([{ refusal: { status: 503, reason: 'tool-hints-unreadable' } }]);
  expect(pages.map(({ aborted }) => aborted)).toEqual([false, true]);
  const [, second] = pages;
  if (second !== undefined) answerPage(second, { tools: [] });
  expect(failures.length).toBe(1);
});

test('ends the reading when the client disconnects', () => {
  const { pages, failures, giveUp } = read();
  giveUp();
  expect(failures).toMatchObject([{ refusal: { reason: 'request-cut-off' } }]);
  expect(pages.map(({ aborted }) => aborted)).toEqual([true]);
});

test('a list of one page is read once', () => {
  const { pages, failures } = read();
  const [first] = pages;
  if (first !== undefined) answerPage(first, { tools: [{ name: 'a', annotations: { readOnlyHint: true } }] });
  expect([pages.length, failures]).toEqual([1, [{ reading: undefined }]]);
});

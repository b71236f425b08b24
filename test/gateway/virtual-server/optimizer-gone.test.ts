// Tests a call that the gate permitted as a call of the optimizer, if the optimizer has been removed since.

import { expect, test } from 'vitest';
import type { Answer, Exchange } from '#gateway/backends/backend.ts';
import { passOptimizer } from '#gateway/virtual-server/optimizer/calls.ts';
import { scanMessage } from '#gateway/wire/scan.ts';

type World = Parameters<typeof passOptimizer>[0];
type Offer = Parameters<typeof passOptimizer>[1];

function pass(name: string, denial: string | undefined): string {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }));
  const scanned = scanMessage(body);
  if (!scanned.ok || scanned.message.kind !== 'request') throw new Error('this is not a request');
  const written: string[] = [];
  const answer: Answer = {
    head: () => undefined,
    data: (chunk) => written.push(chunk.toString()) > 0,
    end: () => undefined,
    fail: () => undefined,
  };
  const world: World = {
    denial: () => denial,
    permittedTools: () => undefined,
    log: () => undefined,
    optimizer: {
      enabled: () => false,
      ready: () => true,
      use: () => undefined,
      learn: () => undefined,
      find: () => Promise.reject(new Error('there is no optimizer')),
    },
  };
  const exchange: Exchange = { method: 'POST', era: 'session', path: '/mcp', headers: {}, caller: '', body };
  const call = { exchange, body, request: scanned.message };
  const passed = passOptimizer(world, { searched: undefined } as Offer, call, answer);
  return 'call' in passed ? 'passes' : written.join('');
}

test.each(['call_tool', 'find_tool'])('%s of a backend needs a permit', (name) => {
  expect(pass(name, 'Unauthorized')).toContain('"isError":true');
  expect(pass(name, undefined)).toBe('passes');
});

test('calls of other tools pass, because the gate has decided them', () => {
  expect(pass('weather', 'Unauthorized')).toBe('passes');
});

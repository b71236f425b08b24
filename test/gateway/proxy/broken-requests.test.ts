// Tests that an exception in a request handler leads to a 500 for this request only, and does not end the process.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Program, startProgram } from '../../harness/mcp-program.ts';
import { CONFIG, runProxy, send } from './world.ts';

let program: Program;
let origins: { readonly plain: string; readonly framed: string };
beforeAll(async () => {
  program = startProgram([fileURLToPath(new URL('broken-server.ts', import.meta.url))]);
  const [line = '{}'] = await program.printed(/\{"plain".*\}/);
  origins = JSON.parse(line);
});
afterAll(() => program.stop());

async function ask(url: string, method: 'GET' | 'POST'): Promise<{ readonly status: number; readonly text: string }> {
  const body = method === 'POST' ? 'x'.repeat(100_000) : undefined;
  const response = await fetch(url, { method, body });
  return { status: response.status, text: await response.text() };
}

const LATER = ['/timer', '/tick', '/microtask', '/rejected'];

describe('the listener of proxies', () => {
  test.each(['/sync', '/data', '/end', ...LATER])('%s', async (path) => {
    const { status, text } = await ask(`${origins.plain}${path}`, 'POST');
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } });
    expect(await ask(`${origins.plain}/ok`, 'GET')).toEqual({ status: 200, text: 'ok' });
    expect(program.output()).toContain('broken: a mistake of ours');
  });

  test('a response that has begun is aborted', async () => {
    await expect(ask(`${origins.plain}/late`, 'POST')).rejects.toThrow();
    expect(await ask(`${origins.plain}/ok`, 'GET')).toEqual({ status: 200, text: 'ok' });
  });
});

describe('Fastify', () => {
  test.each(['/sync', ...LATER])('%s', async (path) => {
    const { status, text } = await ask(`${origins.framed}${path}`, 'GET');
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({ version: 1, code: 'control-failed', error: 'internal error' });
    expect(await ask(`${origins.framed}/ok`, 'GET')).toEqual({ status: 200, text: 'ok' });
  });

  test('a response that has begun is aborted', async () => {
    await expect(ask(`${origins.framed}/late`, 'GET')).rejects.toThrow();
    expect(await ask(`${origins.framed}/ok`, 'GET')).toEqual({ status: 200, text: 'ok' });
  });
});

test('an exception outside of any request ends the process', async () => {
  const own = startProgram([fileURLToPath(new URL('broken-server.ts', import.meta.url))]);
  await own.printed(/"plain"/);
  await own.kill('SIGUSR2');
  expect(own.output()).toContain('a mistake of ours');
  expect(own.exitCode()).not.toBe(0);
});

test('a proxy whose settings break every request still responds, and its own probes do not end it', async () => {
  const proxy = await runProxy({ ...CONFIG, target_host: '[', target_port: 1 });
  try {
    const list = () => send(proxy, 'tools/list');
    expect([(await list()).status, (await list()).status]).toEqual([500, 500]);
    const { status, text } = await ask(`${proxy.origin}/health`, 'GET');
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ status: 'unhealthy' })]);
    expect(proxy.log.filter(({ reason }) => reason === 'proxy-internal')).toHaveLength(2);
  } finally {
    await proxy.stop();
  }
});

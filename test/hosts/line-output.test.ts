// Lines that cannot be written for a while: nothing waits for them, their number is bounded, and the log says it once.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLineOutput } from '#hosts/line-output.ts';
import { createLogger } from '#hosts/log.ts';
import { startProgram } from '../harness/mcp-program.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skep-lines-'));
});
afterAll(() => rm(folder, { recursive: true }));

function logged() {
  const records: { msg: string; code?: string; lost?: number }[] = [];
  return { records, logger: createLogger('info', { write: (line) => records.push(JSON.parse(line)) }) };
}

it('a full disk is reported once, and the end waits for nothing', async () => {
  const fd = openSync('/dev/full', 'a');
  const { records, logger } = logged();
  const output = openLineOutput(fd, logger);
  output.write('one\n');
  while (records.length === 0) await turn();
  output.write('two\n');
  await output.close();
  expect(records.map(({ msg }) => msg)).toEqual(['audit events cannot be written, and are kept up to 4 MiB']);
  closeSync(fd);
});

it('a pipe without a reader loses lines beyond the bound, and says how many when it is read again', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const { records, logger } = logged();
  const output = openLineOutput(fd, logger);
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 4100; count += 1) output.write(line);
  expect(records.map(({ code, msg }) => [code, msg])).toEqual([
    ['audit-lines-lost', 'audit events are lost: the buffer is full'],
  ]);
  const room = Buffer.alloc(65_536);
  let bytes = 0;
  while (records.length < 2) {
    try {
      bytes += readSync(fd, room);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('EAGAIN')) throw error;
    }
    await turn();
  }
  await output.close();
  expect(records[1]).toMatchObject({ msg: 'audit events are written again', lost: 4 });
  expect(bytes).toBeLessThanOrEqual(4096 * 1024);
  closeSync(fd);
}, 120_000);

it('the end waits for a pipe that is full, although nothing else keeps the process alive', async () => {
  const pipe = join(folder, 'full');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const source = (path: string) => JSON.stringify(new URL(`../../src/hosts/${path}`, import.meta.url).href);
  const program = startProgram([
    '--input-type=module',
    '--eval',
    `const { openLineOutput } = await import(${source('line-output.ts')});
     const { createLogger } = await import(${source('log.ts')});
     const { openSync, constants } = await import('node:fs');
     const fd = openSync(${JSON.stringify(pipe)}, constants.O_WRONLY | constants.O_NONBLOCK);
     const output = openLineOutput(fd, createLogger('info', process.stdout));
     for (let count = 0; count < 100; count += 1) output.write('x'.repeat(1023) + '\\n');
     process.stdout.write('closing\\n');
     await output.close();
     process.stdout.write('closed\\n');`,
  ]);
  await program.printed(/closed/);
  expect(program.output()).toContain('closing');
  closeSync(fd);
});

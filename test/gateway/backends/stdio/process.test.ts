// Tests server processes: their streams, their environment and their end.

import { afterEach, expect, test } from 'vitest';
import { createProcesses } from '#adapters/process/process.ts';
import type { Streams, StreamsHandlers } from '#gateway/backends/ports.ts';
import { clock, FIXTURE, processEnded } from './world.ts';

const open: Streams[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((streams) => streams.close()));
});

interface Heard {
  readonly handlers: StreamsHandlers;
  readonly end: Promise<string>;
  text(): string;
  /** Resolves with the first line of standard output. */
  readonly line: Promise<string>;
}

function listener(): Heard {
  let text = '';
  let end: (detail: string) => void = () => undefined;
  let line: (text: string) => void = () => undefined;
  return {
    end: new Promise((resolve) => {
      end = resolve;
    }),
    line: new Promise((resolve) => {
      line = resolve;
    }),
    text: () => text,
    handlers: {
      stdout(chunk) {
        text += chunk.toString();
        if (text.includes('\n')) line(text.trim());
      },
      stderr: () => undefined,
      drain: () => undefined,
      closed: (detail) => end(detail),
    },
  };
}

async function run(args: readonly string[], heard: Heard, env: Record<string, string> = {}): Promise<Streams> {
  const start = createProcesses({ command: [process.execPath, ...args], env, graceMs: 100, clock });
  const streams = await start(0, heard.handlers);
  open.push(streams);
  return streams;
}

const script = (code: string): string[] => ['--eval', code];

test('the environment contains only the given variables', async () => {
  const heard = listener();
  await run(script('console.log(JSON.stringify(process.env))'), heard, { GIVEN: 'a' });
  expect(JSON.parse(await heard.line)).toEqual({ GIVEN: 'a' });
});

test('arguments are not interpreted by a shell', async () => {
  const heard = listener();
  await run([...script('console.log(process.argv.at(-1))'), '$(echo no); `echo no`'], heard);
  expect(await heard.line).toBe('$(echo no); `echo no`');
});

test('its end is reported with the code or the signal', async () => {
  const ended = listener();
  await run(script('process.exit(7)'), ended);
  expect(await ended.end).toBe('the process ended with 7');
  const killed = listener();
  await run(script('process.kill(process.pid, "SIGKILL")'), killed);
  expect(await killed.end).toBe('the process ended by SIGKILL');
});

test('a program that does not exist is a failure that names it', async () => {
  const start = createProcesses({ command: ['/does/not/exist'], env: {}, graceMs: 100, clock });
  await expect(start(0, listener().handlers)).rejects.toMatchObject({
    code: 'process-start',
    message: expect.stringContaining('/does/not/exist'),
  });
});

test('a process ends without a signal when its input is closed', async () => {
  const heard = listener();
  const code =
    'process.on("SIGTERM", () => console.log("signal")); process.stdin.on("end", () => process.exit(0)).resume(); console.log(process.pid)';
  const streams = await run(script(code), heard);
  const pid = Number(await heard.line);
  await streams.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(heard.text()).not.toContain('signal');
});

test('a process that ignores the end of its input is killed, with its children', async () => {
  const heard = listener();
  const child = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)';
  const code = `
    const child = require("node:child_process").spawn(process.execPath, ["--eval", ${JSON.stringify(child)}], { stdio: "inherit" });
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    console.log(process.pid + " " + child.pid);`;
  const streams = await run(script(code), heard);
  const pids = (await heard.line).split(' ').map(Number);
  await streams.close();
  for (const pid of pids) await processEnded(pid);
});

test('the children of a process that ends by itself are ended', async () => {
  const heard = listener();
  const code = `
    const child = require("node:child_process").spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    console.log(child.pid);
    setTimeout(() => process.exit(0), 50);`;
  await run(script(code), heard);
  const pid = Number(await heard.line);
  await heard.end;
  await processEnded(pid);
});

test('a process waits with its output while the backend does not read', async () => {
  const heard = listener();
  let received = 0;
  const streams = await run([FIXTURE, 'flood', '200000000'], {
    ...heard,
    handlers: {
      ...heard.handlers,
      stdout(chunk) {
        received += chunk.length;
        if (received === chunk.length) streams.pause();
      },
    },
  });
  const before = process.memoryUsage().rss;
  streams.write(Buffer.from('go\n'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(received).toBeLessThan(1_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  streams.resume();
  await heard.end;
  expect(received).toBe(200_000_000);
});

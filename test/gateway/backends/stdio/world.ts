// Provides clocks, a counting observer and real server processes for tests of stdio backends.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProcesses, createSessionProcesses, type ProcessOptions } from '#adapters/process/process.ts';
import type { BackendClock, OpenStreams, Processes } from '#gateway/backends/ports.ts';
import type { BackendObserver, DropReason } from '#gateway/backends/sessions/observer.ts';

export const clock: BackendClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  random: (size) => randomBytes(size),
};

/** Runs twenty times as fast as the real time. */
export const quickClock: BackendClock = {
  ...clock,
  monotonic: () => clock.monotonic() * 20,
  after: (ms, task) => clock.after(ms / 20, task),
};

export interface Counting extends BackendObserver {
  readonly drops: Map<DropReason, number>;
  readonly lines: string[];
  /** Resolves when a line of the log contains the text. */
  until(text: string): Promise<void>;
}

export function countingObserver(): Counting {
  const drops = new Map<DropReason, number>();
  const lines: string[] = [];
  const waiting = new Map<string, () => void>();
  return {
    drops,
    lines,
    until: (text) =>
      new Promise((resolve) => {
        if (lines.some((line) => line.includes(text))) resolve();
        else waiting.set(text, resolve);
      }),
    dropped: (reason) => drops.set(reason, (drops.get(reason) ?? 0) + 1),
    log(level, message) {
      lines.push(`${level} ${message}`);
      for (const [text, resolve] of waiting) if (message.includes(text)) resolve();
    },
  };
}

const require = createRequire(import.meta.url);

/** Returns the path of the program in an npm package of an MCP server. */
export function serverProgram(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const { bin }: { bin: Record<string, string> } = require(manifest);
  return join(dirname(manifest), Object.values(bin)[0] ?? '');
}

export function openProgram(file: string, args: readonly string[] = [], env: Record<string, string> = {}): OpenStreams {
  return createProcesses(programOptions(file, args, env));
}

export function sessionProgram(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Processes {
  return createSessionProcesses(programOptions(file, args, env));
}

function programOptions(file: string, args: readonly string[], env: Record<string, string>): ProcessOptions {
  return {
    command: [process.execPath, file, ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
    graceMs: 2000,
    clock,
  };
}

/** Test server whose arguments define its behaviour. */
export const FIXTURE = fileURLToPath(new URL('fixture-server.mjs', import.meta.url));

/** Resolves when the process has ended. A zombie counts as ended. */
export async function processEnded(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return existsSync('/proc') ? !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) : true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ESRCH', 'ENOENT'].includes(String(error.code))) return false;
    throw error;
  }
}

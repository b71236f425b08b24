// Runs the skep executable from source as a child process, with a separate environment.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

const EXECUTABLE = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));

export interface Finished {
  /** Exit code. null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  /** Returns the output so far: stdout and stderr in the order of arrival. */
  output(): string;
  /** Resolves with the output when it contains the text. Rejects if the process ends first, or after a time limit. */
  printed(text: string): Promise<string>;
  /** Resolves at the next output. Rejects if the process ends first, or after a time limit. */
  more(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended. The first read starts a time limit, after which the process is killed. */
  readonly finished: Promise<Finished>;
}

export interface SkepOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of the program. Defaults to the source. */
  readonly program?: string;
}

export function startSkep(args: readonly string[], { cwd, env = {}, program = EXECUTABLE }: SkepOptions): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the executable did not start');
  let all = '';
  const ended = untilEnded(child);
  let finished: Promise<Finished> | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      all += chunk;
      child.emit('printed');
    });
  }
  return {
    pid,
    output: () => all,
    printed: (text) => untilPrinted(child, () => all, text),
    more: async () => {
      const before = all.length;
      await untilPrinted(child, () => (all.length > before ? 'more' : ''), 'more');
    },
    kill: (signal) => void child.kill(signal),
    get finished() {
      finished ??= endInTime(child, ended);
      return finished;
    },
  };
}

/** Runs the executable until it ends. Fails the test if the output contains a stack trace. */
export async function skep(args: readonly string[], options: SkepOptions): Promise<Finished> {
  const finished = await startSkep(args, options).finished;
  expect(`${finished.stdout}${finished.stderr}`).not.toMatch(/^\s+at .*[:)]/m);
  return finished;
}

async function endInTime(child: ChildProcess, ended: Promise<Finished>): Promise<Finished> {
  const killer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  try {
    return await ended;
  } finally {
    clearTimeout(killer);
  }
}

function untilEnded(child: ChildProcess): Promise<Finished> {
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: string) => {
    text.stdout += chunk;
  });
  child.stderr?.on('data', (chunk: string) => {
    text.stderr += chunk;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, ...text }));
  });
}

function untilPrinted(child: ChildProcess, output: () => string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(new Error(`"${text}" was not printed in time:\n${output()}`)), PATIENCE_MS);
    function end(error?: Error): void {
      clearTimeout(timer);
      child.off('printed', check).off('close', closed);
      if (error === undefined) resolve(output());
      else reject(error);
    }
    function check(): void {
      if (output().includes(text)) end();
    }
    function closed(): void {
      end(new Error(`ended without printing "${text}":\n${output()}`));
    }
    child.on('printed', check).on('close', closed);
    check();
  });
}

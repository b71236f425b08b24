// Runs a Node program as a child process for tests and scripts, and records its output.

import { type ChildProcess, spawn } from 'node:child_process';
import { PATIENCE_MS } from './patience.ts';

/** Time after SIGTERM until SIGKILL. */
const STOP_DEADLINE_MS = 10_000;

export interface Program {
  readonly pid: number;
  /** Returns the output so far: stdout and stderr in the order of arrival. */
  output(): string;
  /** Resolves when the output matches. Rejects if the program ends first, or after PATIENCE_MS. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM, and SIGKILL after ten seconds. Resolves when the program has ended. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Returns null while the program runs, or if a signal has ended it. */
  exitCode(): number | null;
}

export function startProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const child = spawn(process.execPath, [...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${args[0]} did not start`);
  let all = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      all += chunk;
      child.emit('printed');
    });
  }
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    pid,
    output: () => all,
    printed: (pattern) => untilPrinted(child, () => all, pattern),
    stop: async () => {
      const late = setTimeout(() => void child.kill('SIGKILL'), STOP_DEADLINE_MS);
      await kill('SIGTERM');
      clearTimeout(late);
    },
    kill,
    exitCode: () => child.exitCode,
  };
}

function untilPrinted(child: ChildProcess, output: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${why} before it printed ${pattern}:\n${output()}`));
    const late = setTimeout(() => settle(() => fail('it was not printed in time')), PATIENCE_MS);
    const settle = (finish: () => void) => {
      clearTimeout(late);
      child.off('printed', look);
      child.off('close', ended);
      finish();
    };
    const ended = () => settle(() => fail(`it ended with ${child.exitCode ?? child.signalCode}`));
    const look = () => {
      const match = pattern.exec(output());
      if (match !== null) settle(() => resolve(match));
    };
    child.on('printed', look);
    child.on('close', ended);
    if (child.exitCode !== null || child.signalCode !== null) return ended();
    look();
  });
}

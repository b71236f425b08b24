// Servers in processes of their own, so that what they do is not measured as ours.

import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ServerProcess<T> {
  /** What it said when it was ready. */
  readonly ready: T;
  readonly pid: number;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
}

/** One that answers messages, one after the other. */
export interface AskedProcess<T> extends ServerProcess<T> {
  ask<A>(question: Serializable): Promise<A>;
}

/** A module of ours: gets the input as a message, sends one when it is ready, and ends when it is disconnected. */
export async function startModule<T>(
  file: URL,
  input: Serializable,
  nodeOptions: readonly string[] = [],
): Promise<AskedProcess<T>> {
  const child = fork(file, { execArgv: [...nodeOptions] });
  function ask<A>(question: Serializable): Promise<A> {
    child.send(question);
    return firstMessage<A>(child, new Promise((resolve) => child.once('message', resolve)));
  }
  const ready = await ask<T>(input);
  return { ready, ask, pid: child.pid ?? 0, stop: () => gone(child, () => child.disconnect()) };
}

/** A program whose first line of output says that it is ready; SIGTERM ends it. Its stderr is dropped. */
export async function startProgram(args: readonly string[]): Promise<ServerProcess<string>> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const line = new Promise((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
  const ready = await firstMessage<string>(child, line);
  return { ready, pid: child.pid ?? 0, stop: () => gone(child, () => child.kill()) };
}

/** Resident memory in MiB, as Linux tells it; undefined elsewhere. */
export function residentMiB(pid: number): number | undefined {
  return memoryMiB(pid, 'VmRSS');
}

/**
 * The most resident memory that a process has had, in MiB, as Linux tells it; undefined elsewhere. `maxRSS` of its own usage
 * is something else: it begins with what its parent had.
 */
export function peakMiB(pid: number): number | undefined {
  return memoryMiB(pid, 'VmHWM');
}

function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number | undefined {
  try {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line === null ? undefined : Number(line[1]) / 1024;
  } catch {
    // No /proc on this system.
    return undefined;
  }
}

/** Rejects where the process ends before. */
function firstMessage<T>(child: ChildProcess, message: Promise<unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (status: unknown) => reject(new Error(`${child.spawnargs.join(' ')} ended with status ${status}`));
    child.once('exit', ended).once('error', reject);
    void message.then((value) => {
      child.off('exit', ended).off('error', reject);
      resolve(value as T);
    });
  });
}

async function gone(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  end();
  await exited;
}

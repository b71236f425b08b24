// Runs an MCP server as a child process. Implements `OpenStreams` of gateway/backends/ports.ts. Uses no shell, exactly
// the given environment variables, and a separate process group that is killed with the process.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { BackendClock, OpenStreams, Processes, Streams, StreamsHandlers } from '#gateway/backends/ports.ts';
import { Failure } from '#std/failure.ts';

export interface ProcessOptions {
  /** Program and arguments. The program is a path, or a name that is searched in the PATH of `env`. */
  readonly command: readonly [string, ...string[]];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Milliseconds after the end of the input before SIGTERM, and after SIGTERM before SIGKILL. */
  readonly graceMs: number;
  readonly clock: Pick<BackendClock, 'after' | 'now'>;
}

/** Opens one process for each index. */
export function createProcesses(options: ProcessOptions): OpenStreams {
  return (index, handlers) => startProcess(options, index, handlers);
}

/** Opens one process for each session. A health check starts and stops a process. */
export function createSessionProcesses(options: ProcessOptions): Processes {
  return {
    open: createProcesses(options),
    async check(index) {
      const streams = await startProcess(options, index, NO_HANDLERS);
      await streams.close();
    },
  };
}

const NO_HANDLERS: StreamsHandlers = { stdout: ignore, stderr: ignore, drain: ignore, closed: ignore };

async function startProcess(options: ProcessOptions, index: number, handlers: StreamsHandlers): Promise<Streams> {
  const [program, ...args] = options.command;
  const { env, directory } = options;
  const child = spawn(program, args, { env: { ...env }, cwd: directory, stdio: 'pipe', detached: true });
  await hasStarted(child, program);
  const exit = watchExit(child, handlers);
  child.stdout.on('data', handlers.stdout);
  child.stderr.on('data', handlers.stderr);
  child.stdin.on('drain', handlers.drain);
  // If the process ends during a write, the exit is reported instead of the write's error.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', ignore);
  return {
    instance: `${index}/${child.pid}/${options.clock.now()}`,
    write: (chunk) => child.stdin.write(chunk),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    close: () => stop(child, exit, options),
  };
}

function hasStarted(child: ChildProcessWithoutNullStreams, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(new Failure('process-start', `${program} does not start: ${cause.message}`, { cause, retryable: true }));
    });
  });
}

interface Exit {
  /** Settles when the process and its streams have ended. */
  readonly over: Promise<void>;
  /** Marks the end of the process as requested, so that it is not reported. */
  silence(): void;
}

function watchExit(child: ChildProcessWithoutNullStreams, handlers: StreamsHandlers): Exit {
  let asked = false;
  // Children of the process may still use its pipes, so they are killed too.
  child.once('exit', () => signalGroup(child, 'SIGKILL'));
  const over = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      if (!asked)
        handlers.closed(signal === null ? `the process ended with ${code}` : `the process ended by ${signal}`);
      resolve();
    });
  });
  return {
    over,
    silence() {
      asked = true;
    },
  };
}

/** Closes the input, then sends SIGTERM, then SIGKILL (MCP specification, Lifecycle, Shutdown). */
async function stop(child: ChildProcessWithoutNullStreams, exit: Exit, options: ProcessOptions): Promise<void> {
  exit.silence();
  child.stdin.end();
  // Unread output must not keep the process from ending.
  child.stdout.removeAllListeners('data').resume();
  const means = (['SIGTERM', 'SIGKILL'] as const).map((signal, step) =>
    options.clock.after(options.graceMs * (step + 1), () => signalGroup(child, signal)),
  );
  await exit.over;
  for (const cancel of means) cancel();
}

function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the group has no processes. EPERM: macOS reports this for a group of zombies.
    if (!isCode(error, 'ESRCH') && !isCode(error, 'EPERM')) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function ignore(): void {
  // Output of a health check is not needed. Instead of errors of streams, the exit of the process is reported.
}

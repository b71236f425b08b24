// Runs an MCP server as a child process: implements `OpenStreams` of gateway/backends/ports.ts. No shell, an
// environment of exactly the given variables, and a process group of its own that ends with it.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { BackendClock, OpenStreams, Processes, Streams, StreamsHandlers } from '#gateway/backends/ports.ts';
import { Failure } from '#std/failure.ts';

export interface ProcessOptions {
  /** Program and arguments; the program is a path, or a name that is looked up in the PATH of `env`. */
  readonly command: readonly [string, ...string[]];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Time after the end of its input, and again after SIGTERM, before the next stronger signal. */
  readonly graceMs: number;
  readonly clock: Pick<BackendClock, 'after' | 'now'>;
}

/** Opens processes, one for each index. */
export function createProcesses(options: ProcessOptions): OpenStreams {
  return (index, handlers) => startProcess(options, index, handlers);
}

/** Opens processes for one session each. A health check starts and ends a process. */
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
  // A process that ends during a write to it is reported by its exit.
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
  // Processes that it has started may still have its pipes open; they end with it.
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

/** MCP specification, Lifecycle, Shutdown: its input ends, then SIGTERM, then SIGKILL. */
async function stop(child: ChildProcessWithoutNullStreams, exit: Exit, options: ProcessOptions): Promise<void> {
  exit.silence();
  child.stdin.end();
  // Further output of the process is not needed, and must not keep it from ending.
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
    // ESRCH: no process of the group is left. EPERM: the answer of macOS for a group of zombies.
    if (!isCode(error, 'ESRCH') && !isCode(error, 'EPERM')) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function ignore(): void {
  // Reported elsewhere.
}

// Runs a PostgreSQL server as a child process on a data directory.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';
import type { Account, Binaries } from './binaries.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 10;
const KEPT_LOG_CHARS = 4_000;
/** Makes the server's messages English. None of our environment variables are passed (PGDATA, PGPORT, LANG, ...). */
const ENVIRONMENT = { LC_ALL: 'C' };

export interface ServerOptions {
  readonly binaries: Binaries;
  /** Created by `initCluster` and owned by the account. */
  readonly dataDir: string;
  /** Set if we are root. */
  readonly account?: Account | undefined;
  /** Default: any free port. */
  readonly port?: number;
  /** Additional `name=value` settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** If set, this directory is deleted when our process dies without stopping the server. */
  readonly removeWhenOrphaned?: string;
}

export interface PostgresServer {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
  /** Disconnects clients, stops the server and resolves when its process has ended. May be called more than once. */
  stop(): Promise<void>;
}

/** Creates a data directory with `initdb`. `authentication` applies to connections over TCP. */
export async function initCluster(
  options: ServerOptions,
  authentication: 'trust' | 'scram-sha-256',
  durable: boolean,
): Promise<void> {
  const { binaries, dataDir } = options;
  const args = ['-D', dataDir, '-U', 'postgres', '-E', 'UTF8', '--no-locale', '--no-instructions'];
  args.push('--auth-local=trust', `--auth-host=${authentication}`);
  if (!durable) args.push('--no-sync');
  await runProgram(options, binaries.initdb, args, '');
}

/**
 * Runs SQL as superuser in a single-user server without a network. Each statement must be one line. Statements are
 * never logged. Throws Failure `database-server-failed`.
 */
export async function runSingleUser(options: ServerOptions, database: string, statements: readonly string[]) {
  const args = ['--single', '-D', options.dataDir, '-c', 'log_min_error_statement=panic', '-c', 'exit_on_error=on'];
  await runProgram(options, options.binaries.postgres, [...args, database], `${statements.join('\n')}\n`);
}

/** Starts the server on 127.0.0.1 and resolves when it accepts connections. Throws Failure `database-server-failed`. */
export async function startServer(options: ServerOptions): Promise<PostgresServer> {
  const port = options.port ?? (await freePort());
  const args = ['-D', options.dataDir, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
  args.push('-c', 'unix_socket_directories=', '-c', 'logging_collector=off');
  for (const [name, value] of Object.entries(options.settings ?? {})) args.push('-c', `${name}=${value}`);
  const child = launch(options, options.binaries.postgres, args);
  const log = keepLog(child);
  const closed = endOf(child);
  const { pid } = await spawned(child, options.binaries.postgres);
  const watchdog = guard(options, pid);
  const exited = closed.then(async () => {
    watchdog.child.kill('SIGKILL');
    await watchdog.closed;
  });
  async function stop(): Promise<void> {
    child.kill('SIGINT');
    const late = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(late);
  }
  try {
    await ready(options.dataDir, pid, child);
  } catch (cause) {
    await stop();
    throw new Failure('database-server-failed', `PostgreSQL did not start on ${options.dataDir}: ${reasonIn(log())}`, {
      data: { dataDir: options.dataDir, log: log() },
      cause,
    });
  }
  return { host: '127.0.0.1', port, pid, exited, stop };
}

/**
 * Starts a shell that stops the server when our process ends. The end of our process closes the shell's input, even
 * after a kill.
 */
function guard(options: ServerOptions, pid: number): { child: ChildProcess; closed: Promise<unknown> } {
  const child = launch(options, '/bin/sh', ['-c', WATCHDOG, 'sh', String(pid), options.removeWhenOrphaned ?? '']);
  child.stdin?.on('error', () => undefined);
  return { child, closed: endOf(child) };
}

/**
 * Shell script that stops the server. It waits at most 10 s before deleting the directory, because a zombie keeps its
 * process id. It prints nothing: its output has no reader, and a write would end the shell.
 */
const WATCHDOG = `exec 2>/dev/null
read -r _
kill -INT "$1"
[ -n "$2" ] || exit 0
left=100
while kill -0 "$1" && [ "$left" -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
rm -rf "$2"`;

/**
 * Waits until line 8 of postmaster.pid reports that the server is ready. Line 1 must be the pid, because the file may
 * be from an earlier server.
 */
async function ready(dataDir: string, pid: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the server process ended');
    const lines = await readPidFile(dataDir);
    if (lines?.[0] === String(pid) && lines[7]?.trim() === 'ready') return;
    await pause(POLL_MS);
  }
  throw new Error(`not ready after ${START_TIMEOUT_MS} ms`);
}

/** Returns the lines of a data directory's postmaster.pid. undefined if the file does not exist. */
export async function readPidFile(dataDir: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Deletes the data directory. The server must be stopped. */
export async function removeCluster(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
}

async function runProgram(options: ServerOptions, program: string, args: readonly string[], input: string) {
  const child = launch(options, program, args);
  const log = keepLog(child);
  const ended = endOf(child);
  await spawned(child, program);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const status = await ended;
  if (status === 0) return;
  throw new Failure('database-server-failed', `${program} ended with status ${status}: ${reasonIn(log())}`, {
    data: { program, status, log: log() },
  });
}

/**
 * Starts the program in its own process group, so that Ctrl-C reaches only our process. Our process then stops the
 * server cleanly.
 */
function launch(options: ServerOptions, program: string, args: readonly string[]): ChildProcess {
  const { account } = options;
  const owner = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  return spawn(program, args, {
    ...owner,
    cwd: '/',
    env: ENVIRONMENT,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

function spawned(child: ChildProcess, program: string): Promise<{ pid: number }> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve({ pid: child.pid ?? 0 }));
    child.once('error', (cause) =>
      reject(new Failure('database-server-failed', `cannot run ${program}`, { data: { program }, cause })),
    );
  });
}

/** Resolves with the exit code when the process has ended and its output was read. */
function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve));
}

function keepLog(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-KEPT_LOG_CHARS);
  });
  return () => text;
}

/** Returns the first error in the log. Later lines only report the shutdown. */
function reasonIn(log: string): string {
  const lines = log.trim().split('\n');
  const reason = lines.find((line) => /\b(ERROR|FATAL|PANIC|error):/.test(line)) ?? lines.at(-1) ?? '';
  return reason.replace(/^[-\d]+ [.:\d]+ \S+ \[\d+\] /, '');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

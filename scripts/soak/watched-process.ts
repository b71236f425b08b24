// The program as a process of its own that is looked at from outside: what it logs, what it holds, whether it ends well.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Complaints } from './complaints.ts';
import type { Probed } from './probe.ts';

export interface WatchedProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves with what follows the text in the first line that holds it, up to a space or quote. */
  after(text: string): Promise<string>;
  /** `snapshot`: the path of a heap snapshot to write first; empty: none. */
  probe(snapshot: string): Promise<Probed>;
  /** SIGTERM; complains where it does not end by itself, and with 0. */
  stop(): Promise<void>;
}

export interface WatchedOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Everything that it prints is written here. */
  readonly logFile: string;
  readonly complaints: Complaints;
  /** Whether a record of level error is to be expected. */
  readonly expected: (record: LogRecord) => boolean;
}

export type LogRecord = Readonly<Record<string, unknown>>;

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url));
const READY_WITHIN_MS = 120_000;
const END_WITHIN_MS = 40_000;

export function startWatched(options: WatchedOptions): WatchedProcess {
  const { name, program, args, logFile, complaints } = options;
  const child = spawn(process.execPath, ['--expose-gc', '--import', PROBE, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = createWriteStream(logFile);
  const hearers = new Set<(line: string) => void>();
  let stopping = false;
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on('line', (line) => {
      log.write(`${line}\n`);
      judgeLine(line, options);
      for (const hear of hearers) hear(line);
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  void exited.then((code) => {
    log.end();
    if (!stopping) complaints.add('processes', `${name} ended by itself, with ${code}`);
  });
  return {
    name,
    pid: child.pid ?? 0,
    after: (text) => lineWith(text, hearers, exited),
    probe: (snapshot) => probe(child, snapshot, exited),
    async stop() {
      stopping = true;
      child.kill();
      const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      const code = await exited;
      clearTimeout(late);
      if (code !== 0) complaints.add('processes', `${name} ended with ${code}`);
    },
  };
}

/** pino's number, or its name. */
const ERRORS: readonly unknown[] = [50, 60, 'error', 'fatal'];

/** What is no record is a warning of Node.js itself, or a stack; what the service says first goes to stdout. */
function judgeLine(line: string, { name, complaints, expected }: WatchedOptions): void {
  if (!line.startsWith('{')) {
    if (!line.startsWith('serving ')) complaints.add(`log of ${name}`, line);
    return;
  }
  if (!line.includes('"level":50') && !line.includes('"level":60') && !/"level":"(error|fatal)"/.test(line)) return;
  const record: LogRecord = JSON.parse(line);
  if (ERRORS.includes(record.level) && !expected(record)) complaints.add(`log of ${name}`, line);
}

function lineWith(text: string, hearers: Set<(line: string) => void>, exited: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`"${text}" was not logged in time`)), READY_WITHIN_MS);
    function hear(line: string): void {
      const at = line.indexOf(text);
      if (at < 0) return;
      clearTimeout(late);
      hearers.delete(hear);
      resolve(line.slice(at + text.length).split(/[ "]/, 1)[0] ?? '');
    }
    hearers.add(hear);
    void exited.then((code) => reject(new Error(`ended with ${String(code)} before it logged "${text}"`)));
  });
}

async function probe(child: ChildProcess, snapshot: string, exited: Promise<unknown>): Promise<Probed> {
  const answer = new Promise<Probed>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Probed));
    void exited.then(() => reject(new Error('ended while it was asked what it holds')));
  });
  child.send(snapshot);
  return answer;
}

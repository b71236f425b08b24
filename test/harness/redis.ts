// Starts a Redis on loopback for one test file.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';

export interface RedisServer {
  readonly address: string;
  stop(): Promise<void>;
  /** Kills the server, so that it cannot close its connections properly. Resolves when it has ended. */
  kill(): Promise<void>;
}

/** Ends the server process. Resolves when it has ended. */
export function endServer(server: ChildProcess): Promise<void> {
  return endBy('SIGTERM', server);
}

async function endBy(signal: NodeJS.Signals, server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await ended;
}

export async function startRedis(given?: number): Promise<RedisServer | undefined> {
  const port = given ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'skep-redis-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const started = await hasStarted(server);
  if (!started) {
    process.stderr.write('skipped: redis-server is not installed (Debian: redis-server, or Valkey: valkey-server)\n');
    return undefined;
  }
  return {
    address: `127.0.0.1:${port}`,
    stop: () => endServer(server),
    kill: () => endBy('SIGKILL', server),
  };
}

/** Returns false if the program is not installed. */
export function hasStarted(server: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.once('exit', () => resolve(false));
    let text = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (/Ready to accept connections/.test(text)) resolve(true);
    });
  });
}

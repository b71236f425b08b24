// Opens repositories of real Git servers with the Git adapter. Closes them after each test of the importing file.

import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type GitOptions, openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { type Intercept, type SshServer, type StreamServer, startGitDaemon, startSshServer } from './git-inetd.ts';
import { type GitServer, type GitServerOptions, startGitServer, temporaryFolder } from './git-server.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function serve(options: GitServerOptions = {}): Promise<GitServer> {
  const server = await startGitServer(options);
  cleanups.push(() => server.close());
  return server;
}

/** Starts a git daemon, which is closed after the test. */
export async function serveDaemon(intercept?: Intercept): Promise<StreamServer> {
  const server = await startGitDaemon(intercept);
  cleanups.push(() => server.close());
  return server;
}

/** Starts an SSH server, which is closed after the test. */
export async function serveSsh(intercept?: Intercept): Promise<SshServer> {
  const server = await startSshServer(intercept);
  cleanups.push(() => server.close());
  return server;
}

export function stateDir(): string {
  const folder = temporaryFolder();
  cleanups.push(() => folder.remove());
  return join(folder.path, 'state');
}

export function open(repository: string, options: Partial<GitOptions> = {}): Repository {
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });
  cleanups.push(() => outbound.close());
  const dir = options.dir ?? stateDir();
  return openRepository({ repository, ref: {}, dir, outbound, allowFiles: false, clock: systemClock, ...options });
}

export async function textOf(checkout: Checkout): Promise<Record<string, string>> {
  const contents = await checkout.read(checkout.files.map(({ oid }) => oid));
  return Object.fromEntries(
    checkout.files.map(({ path, oid }) => [path, Buffer.from(contents.get(oid) ?? []).toString()]),
  );
}

export async function failureOf(run: () => Promise<unknown>): Promise<Failure> {
  const answer = await run().catch((error: unknown) => error);
  if (answer instanceof Failure) return answer;
  throw new Error(`no Failure but ${JSON.stringify(answer)}`);
}

export function transferred(server: GitServer): number {
  return server.exchanges.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
}

/** Returns files that compress badly, so that byte counts show whether they were sent again. */
export function manyFiles(count = 600): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => index);
  return Object.fromEntries(
    names.map((index) => [
      `d${index % 20}/f${index}.yaml`,
      Array.from({ length: 20 }, (_, line) => `k${line}: ${Math.imul(index * 31 + line, 2_654_435_761) >>> 0}\n`).join(
        '',
      ),
    ]),
  );
}

export function everything(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = JSON.stringify({ ...error, stack: error.stack, message: error.message });
  return `${fields}\n${error.cause === undefined ? '' : everything(error.cause)}`;
}

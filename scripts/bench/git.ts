// The Git adapter: reading files beside git itself, and what a fetch transfers beside a clone.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { type GitServer, startGitServer, type TestRepository } from '../../test/harness/git-server.ts';
import { fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const FILES = 5000;
const ROUNDS = 5;

export async function benchGit({ folder }: Place): Promise<Report> {
  if (spawnSync('git', ['--version']).status !== 0) {
    return { rows: [], notices: ['git is not installed: the section git was left out'] };
  }
  const server = await startGitServer();
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'bench' });
  try {
    const fleet = server.createRepository('fleet.git');
    fleet.commit(Object.fromEntries(fleetOf(FILES).map(({ path, content }) => [path, content])));
    const dir = join(folder, 'mirror');
    const repository = openRepository({
      repository: `${server.url}/fleet.git`,
      ref: { branch: 'main' },
      dir,
      outbound,
      allowFiles: false,
      clock: systemClock,
    });
    const clone = await transferred(server, repository);
    const read = await reading(await repository.fetch(), dir);
    return { rows: [read, ...(await fetches(server, fleet, repository, clone))], notices: [] };
  } finally {
    await outbound.close();
    await server.close();
  }
}

/** Bytes that a fetch sends and receives, HTTP's own headers aside. */
async function transferred(server: GitServer, repository: Repository): Promise<number> {
  server.forget();
  await repository.fetch();
  return server.exchanges.reduce((sum, each) => sum + each.requestBytes + each.responseBytes, 0);
}

async function fetches(
  server: GitServer,
  fleet: TestRepository,
  repository: Repository,
  clone: number,
): Promise<Row[]> {
  const unchanged = await transferred(server, repository);
  const [changed] = fleetOf(1);
  assert(changed !== undefined);
  fleet.commit({ [changed.path]: changed.content.replace('LOG_LEVEL', 'LOG_FORMAT') });
  const oneLine = await transferred(server, repository);
  const against = 'the first fetch of everything';
  return [
    { name: 'fetch, nothing changed', ours: unchanged, baseline: clone, unit: 'bytes', against },
    { name: 'fetch, one line changed', ours: oneLine, baseline: clone, unit: 'bytes', against },
  ];
}

async function reading(checkout: Checkout, dir: string): Promise<Row> {
  const gitdir = join(dir, readFileSync(join(dir, 'current'), 'utf8').trim());
  const oids = checkout.files.map(({ oid }) => oid);
  const contents = await checkout.read(oids);
  const { read, git } = await medians(ROUNDS, {
    read: () => checkout.read(oids),
    git: async () => {
      const output = await catFile(gitdir, oids);
      const expected = [...contents].reduce((sum, [oid, bytes]) => sum + printed(oid, bytes), 0);
      assert.equal(output, expected, 'both read the same bytes');
    },
  });
  const against = 'git cat-file --batch';
  return { name: `reading ${oids.length} files of a commit`, ours: read, baseline: git, unit: 'ms', against };
}

/** `<oid> blob <size>`, the content, each with a line feed. */
function printed(oid: string, bytes: Uint8Array): number {
  return `${oid} blob ${bytes.length}\n`.length + bytes.length + 1;
}

/** Gives the number of bytes that git printed. */
function catFile(gitdir: string, oids: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const git = spawn('git', ['--git-dir', gitdir, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let bytes = 0;
    git.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    git.once('error', reject);
    git.once('close', () => resolve(bytes));
    git.stdin.end(`${oids.join('\n')}\n`);
  });
}

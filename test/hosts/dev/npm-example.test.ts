// The example of docs/dev.md for `skep dev --run npm`, as it stands there, with the package that it names.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServers } from '#contracts/running-servers.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Running, skep, startSkep } from '../../harness/skep.ts';
import { type InstalledRegistry, startInstalledRegistry } from './packages/installed.ts';

const PAGE = fileURLToPath(new URL('../../../docs/dev.md', import.meta.url));

const folder = temporaryFolder();
let registry: InstalledRegistry;
let dev: Running | undefined;

beforeAll(async () => {
  registry = await startInstalledRegistry();
});

afterAll(async () => {
  dev?.kill('SIGTERM');
  await dev?.finished;
  registry?.stop();
  folder.remove();
});

function exampleOfPage(): string {
  const text = readFileSync(PAGE, 'utf8');
  const start = text.indexOf('With these two manifests');
  const blocks = [...text.slice(start).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].slice(0, 2);
  return blocks.map(([, block]) => block).join('---\n');
}

test('the package runs as the image of the server, and answers a call', async () => {
  const repository = join(folder.path, 'repository');
  mkdirSync(repository);
  writeFileSync(join(repository, 'all.yaml'), exampleOfPage());
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'The example');
  const sources = [{ name: 'fleet', repository: pathToFileURL(repository).href, branch: 'main' }];
  writeFileSync(
    join(folder.path, 'skep.yaml'),
    JSON.stringify({ name: 'own', sources, outbound: { allowFiles: true } }),
  );
  const words = ['dev', '--port', '0', '-c', 'skep.yaml', '--data', 'data', '--run', 'npm'];
  dev = startSkep(words, { cwd: folder.path, env: { npm_config_registry: registry.url } });
  const origin =
    /(?<=console +)http:\/\/127\.0\.0\.1:\d+/.exec(await dev.printed('Ctrl-C stops everything'))?.[0] ?? '';
  const { servers } = await eventually(
    async () => (await (await fetch(`${origin}/mcp`)).json()) as RunningServers,
    (all) => all.servers.some(({ name, ready }) => name === 'everything' && ready),
  );
  const url = servers.find(({ name }) => name === 'everything')?.url ?? '';
  const { code, stdout, stderr } = await skep(['call', url, '--token-file', 'data/token', 'echo', 'message=hello'], {
    cwd: folder.path,
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('hello');
});

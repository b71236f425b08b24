// How long the command line takes to start, beside Node.js itself.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Place } from './sections.ts';
import type { Report } from './table.ts';

const ROUNDS = 11;

export async function benchStart({ folder, program }: Place): Promise<Report> {
  const manifest = join(folder, 'server.yaml');
  // The group of the server is in the file too.
  writeFileSync(
    manifest,
    fleetOf(1)
      .map(({ content }) => content)
      .join('---\n'),
  );
  function run(...args: readonly string[]): void {
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
  const cluster = await openRefusingCluster(folder);
  const { help, validate, status, node } = await medians(ROUNDS, {
    help: () => run(program, '--help'),
    validate: () => run(program, 'validate', manifest),
    status: () => cluster.firstRequestOf([program, 'status', '-c', cluster.settings]),
    node: () => run('-e', '0'),
  });
  cluster.close();
  const against = 'node -e 0';
  const rows = [
    { name: 'skep --help', ours: help, baseline: node, unit: 'ms', against },
    { name: 'skep validate, one file', ours: validate, baseline: node, unit: 'ms', against },
    { name: 'skep status, to its first request', ours: status, baseline: node, unit: 'ms', against },
  ];
  return { rows, notices: [] };
}

interface RefusingCluster {
  /** A skep.yaml for it. */
  readonly settings: string;
  /** Resolves when a process has asked for the first time; it is ended then. */
  firstRequestOf(args: readonly string[]): Promise<void>;
  close(): void;
}

/** Refuses everything, so that nothing follows a first request. */
async function openRefusingCluster(folder: string): Promise<RefusingCluster> {
  const listener = createServer((_request, response) => response.writeHead(403).end('{}'));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const server = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { server, 'insecure-skip-tls-verify': true };
  const contents = {
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    clusters: [{ name: 'bench', cluster }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(contents), { mode: 0o600 });
  const settings = join(folder, 'skep.yaml');
  const sources = [{ name: 'bench', repository: `${server}/bench.git` }];
  writeFileSync(
    settings,
    JSON.stringify({ name: 'bench', sources, cluster: { kubeconfig }, stateDir: join(folder, 'state') }),
  );
  let isFirst = true;
  async function firstRequestOf(args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const asked = await Promise.race([once(listener, 'request').then(() => true), ended.then(() => false)]);
    assert.ok(asked, 'it asks the cluster');
    // What Node keeps of compiled modules is written at the end of a process: the first one has it.
    if (!isFirst) child.kill('SIGKILL');
    isFirst = false;
    await ended;
  }
  return { settings, firstRequestOf, close: () => listener.close() };
}

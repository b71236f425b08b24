// The places where the commands of a page run. Each is a temporary folder that is thrown away, with a home of its own.
// A page names one by `<!-- stage: NAME -->`.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { scaffold } from '#cli/scaffold.ts';
import { systemClock } from '#hosts/clock.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { startTestCluster, type TestCluster } from '../harness/cluster.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { startSkep } from '../harness/skep.ts';
import { ROOT } from './pages.ts';

export interface Stage {
  /** Where the commands begin. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface Part {
  readonly env?: Readonly<Record<string, string>>;
  readonly close?: () => Promise<void>;
}

/** What each stage is made of, in this order. */
const STAGES: Readonly<Record<string, readonly ((dir: string, program: string) => Promise<Part>)[]>> = {
  /** Nothing at all. */
  empty: [],
  /** What a clone of skep holds; what is written there is lost. */
  checkout: [linkCheckout],
  /** The same, and a cluster with the definitions of our kinds. */
  'checkout-and-cluster': [linkCheckout, openCluster],
  /** A cluster with the definitions, and nothing else. */
  cluster: [openCluster],
  /** The cluster of a `skep dev` that follows an empty repository, which runs what is applied to it. */
  dev: [openDev],
  /** A cluster, and what `skep init` has made, pushed to a Git server, with a skep.yaml that takes it from there. */
  fleet: [makeFleet, openCluster],
};

/** `program`: what `skep` starts, from source unless it is given. */
export async function openStage(name: string, program = join(ROOT, 'src/skep.ts')): Promise<Stage> {
  const parts = STAGES[name];
  if (parts === undefined) throw new Error(`there is no stage "${name}": ${Object.keys(STAGES).join(', ')}`);
  const folder = temporaryFolder();
  const [dir, home, bin] = ['work', 'home', 'bin'].map((each) => join(folder.path, each)) as [string, string, string];
  for (const each of [dir, home, bin]) mkdirSync(each);
  const executable = join(bin, 'skep');
  writeFileSync(executable, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(executable, 0o755);
  const made: Part[] = [];
  for (const part of parts) made.push(await part(dir, program));
  return {
    dir,
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: home,
      // Started many times: Node keeps what it has compiled.
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
      CHECKOUT: ROOT,
      FREE_PORT: String(await freePort()),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'You',
      GIT_AUTHOR_EMAIL: 'you@example.com',
      GIT_COMMITTER_NAME: 'You',
      GIT_COMMITTER_EMAIL: 'you@example.com',
      ...Object.assign({}, ...made.map(({ env }) => env ?? {})),
    },
    async close() {
      for (const { close } of made) await close?.();
      folder.remove();
    },
  };
}

async function linkCheckout(dir: string): Promise<Part> {
  for (const name of readdirSync(ROOT)) {
    if (name !== '.git' && name !== '.skep') symlinkSync(join(ROOT, name), join(dir, name));
  }
  return {};
}

async function openCluster(): Promise<Part> {
  const cluster: TestCluster = await startTestCluster({ workloadsReadyAfterMs: 50 });
  const client = await connectCluster({
    kubeconfig: cluster.kubeconfigPath,
    fieldManager: 'skep-crds',
    concurrency: 4,
    version: 'test',
    clock: systemClock,
  });
  await Promise.all(KINDS.map((kind) => client.apply(crd(kind, 'toolhive.stacklok.dev'), { force: true })));
  await client.close();
  return { env: { KUBECONFIG: cluster.kubeconfigPath }, close: () => cluster.stop() };
}

async function openDev(dir: string, program: string): Promise<Part> {
  const own = join(dir, '../dev');
  const repository = join(own, 'repository');
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
  execFileSync('git', ['-C', repository, 'commit', '--quiet', '--allow-empty', '--message', 'Nothing'], {
    env: { ...process.env, ...AUTHOR },
  });
  const settings = {
    name: 'play',
    sources: [{ name: 'fleet', repository: pathToFileURL(repository).href, branch: 'main' }],
    outbound: { allowFiles: true },
  };
  writeFileSync(join(own, 'skep.yaml'), JSON.stringify(settings));
  const words = ['dev', '-c', 'skep.yaml', '--port', '0', '--data', 'data'];
  const running = startSkep(words, { cwd: own, program });
  try {
    await running.printed('Ctrl-C stops everything');
  } catch (error) {
    running.kill('SIGKILL');
    throw error;
  }
  return {
    env: { KUBECONFIG: join(own, 'data/cluster/kubeconfig') },
    async close() {
      running.kill('SIGINT');
      await running.finished;
    },
  };
}

async function makeFleet(dir: string): Promise<Part> {
  const bare = join(dir, '../fleet.git');
  const url = pathToFileURL(bare).href;
  scaffold(dir, url);
  // It would ask for a database.
  rmSync(join(dir, 'clusters/prod/platform'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', dir, ...args], { env: { ...process.env, ...AUTHOR } });
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', bare]);
  git('init', '--quiet', '--initial-branch=main');
  git('remote', 'add', 'origin', url);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'The fleet');
  git('push', '--quiet', '--set-upstream', 'origin', 'main');
  return {
    env: {
      SKEP_SOURCES: JSON.stringify([{ name: 'fleet', repository: url, branch: 'main', path: 'clusters/prod' }]),
      SKEP_OUTBOUND_ALLOWFILES: 'true',
      SKEP_STATEDIR: join(dir, '../state'),
      // A machine that runs many tests answers late.
      SKEP_CLUSTER_TIMEOUTSECONDS: '120',
    },
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'You',
  GIT_AUTHOR_EMAIL: 'you@example.com',
  GIT_COMMITTER_NAME: 'You',
  GIT_COMMITTER_EMAIL: 'you@example.com',
};

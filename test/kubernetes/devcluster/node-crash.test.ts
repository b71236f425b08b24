// Tests that no processes of pods are left when the process that runs them is killed or, if the watchdog is killed too,
// after the next start.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { connect } from '../../recordings/api.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const folder = temporaryFolder();
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const { pid } of processesNaming(WORD)) process.kill(pid, 'SIGKILL');
});

/** Marks the processes of one run of this file. */
const WORD = `left-behind-${process.pid}`;

interface Found {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** proc(5) */
function processesNaming(text: string): readonly Found[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        // The process has ended meanwhile.
        return [];
      }
    })
    .filter(({ command }) => command.includes(text));
}

/** Returns the program of the pod and the process that it has started, but not the cluster that names both. */
function running(): readonly Found[] {
  return processesNaming(WORD).filter(({ command }) => !command.includes('node-process.ts'));
}

async function startCluster(dir: string): Promise<{ readonly cluster: ChildProcess; readonly kubeconfig: string }> {
  const program = fileOf('node-program.mjs');
  const cluster = spawn(process.execPath, [fileOf('node-process.ts'), dir, program, WORD], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(cluster);
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    cluster.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    cluster.once('exit', (code, signal) => reject(new Error(`the cluster ended with ${code ?? signal}`)));
  });
  return { cluster, kubeconfig };
}

async function makePod(kubeconfig: string): Promise<void> {
  const api = await connect(kubeconfig);
  const spec = {
    containers: [{ name: 'main', image: 'a:1', env: [{ name: 'PORT', value: '80' }], ports: [{ containerPort: 80 }] }],
  };
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'left' }, spec });
  const path = '/api/v1/namespaces/default/pods';
  const { status } = await api.call({ method: 'POST', path, query: {}, contentType: 'application/json', body });
  expect(status).toBe(201);
  await api.close();
  await eventually(
    async () => running().length,
    (count) => count === 2,
  );
}

test('a cluster that is killed leaves no process, those that its pods have started included', async () => {
  const { cluster, kubeconfig } = await startCluster(join(folder.path, 'killed'));
  await makePod(kubeconfig);
  cluster.kill('SIGKILL');
  await eventually(
    async () => running(),
    (left) => left.length === 0,
  );
});

test('processes that outlive the watchdog are ended by the next start', async () => {
  const dir = join(folder.path, 'worse');
  const { cluster, kubeconfig } = await startCluster(dir);
  await makePod(kubeconfig);
  const before = running().map(({ pid }) => pid);
  const watchdogs = processesNaming('read -r sign pid').filter(({ parent }) => parent === cluster.pid);
  expect(watchdogs).toHaveLength(1);
  // Both are killed at once, because a cluster replaces its watchdog.
  cluster.kill('SIGSTOP');
  for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
  cluster.kill('SIGKILL');
  const second = await startCluster(dir);
  await eventually(
    async () => running().filter(({ pid }) => before.includes(pid)),
    (left) => left.length === 0,
  );
  second.cluster.kill('SIGKILL');
});

test('a watchdog that is killed is replaced, and the new one knows the running processes', async () => {
  const { cluster, kubeconfig } = await startCluster(join(folder.path, 'replaced'));
  await makePod(kubeconfig);
  const watchdogs = () => processesNaming('read -r sign pid').filter(({ parent }) => parent === cluster.pid);
  const [first] = watchdogs();
  if (first !== undefined) process.kill(first.pid, 'SIGKILL');
  await eventually(
    async () => watchdogs(),
    (all) => all.length === 1 && all[0]?.pid !== first?.pid,
  );
  cluster.kill('SIGKILL');
  await eventually(
    async () => running(),
    (left) => left.length === 0,
  );
});

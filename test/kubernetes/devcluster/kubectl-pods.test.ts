// Tests a real kubectl with running pods: their logs, their ports. The tests are skipped, with a message, if there is
// no kubectl.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

const KUBECTL = process.env.KUBECTL ?? 'kubectl';
const isThere = spawnSync(KUBECTL, ['version', '--client']).status === 0;
const PROGRAM = fileURLToPath(new URL('node-program.mjs', import.meta.url));
const PODS = '/api/v1/namespaces/default/pods';

describe.skipIf(!isThere)('kubectl', () => {
  let cluster: TestCluster;
  const open: ChildProcess[] = [];

  beforeAll(async () => {
    const find = () => ({ command: [process.execPath, PROGRAM] as const });
    cluster = await startTestCluster({ node: { find, path: process.env.PATH ?? '' } });
    await startPod('talks', ['serve']);
    await startPod('ends', ['exit', '3']);
  });

  afterEach(() => {
    for (const child of open.splice(0)) child.kill('SIGKILL');
  });

  afterAll(() => cluster.stop());

  async function startPod(name: string, args: readonly string[]): Promise<void> {
    const ports = [{ containerPort: 80 }];
    const env = [{ name: 'PORT', value: '80' }];
    const spec = { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'a:1', args, env, ports }] };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    expect((await cluster.send('POST', PODS, { body })).status).toBe(201);
    const first = ({ body: pod }: { body: { status: { containerStatuses?: { state: { running?: object } }[] } } }) =>
      pod.status.containerStatuses?.[0]?.state;
    if (name === 'talks')
      await eventually(
        () => cluster.send('GET', `${PODS}/${name}`),
        (answer) => first(answer)?.running !== undefined,
      );
  }

  function kubectl(...args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> {
    return new Promise((resolve) => {
      execFile(KUBECTL, ['--kubeconfig', cluster.kubeconfigPath, ...args], { timeout: 60_000 }, (_error, out, err) =>
        resolve({ out, err }),
      );
    });
  }

  /** Runs until the test ends. */
  function begin(args: readonly string[], env: NodeJS.ProcessEnv = {}): { text(): string; ended: Promise<void> } {
    const child = spawn(KUBECTL, ['--kubeconfig', cluster.kubeconfigPath, ...args], {
      env: { ...process.env, ...env },
    });
    open.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
    return { text: () => text, ended: new Promise((resolve) => child.once('close', () => resolve())) };
  }

  function ask(port: number, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk)).once('end', () => resolve(text));
      }).once('error', reject);
    });
  }

  test('logs shows the output of a container, or the requested part of it', async () => {
    await eventually(
      () => kubectl('logs', 'talks'),
      ({ out }) => out === 'listening\n',
    );
    expect((await kubectl('logs', 'talks', '--tail=0')).out).toBe('');
    expect((await kubectl('logs', 'talks', '--timestamps')).out).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z listening\n$/);
    expect((await kubectl('logs', 'talks', '-c', 'other')).err).toContain('container other is not valid for pod talks');
    expect((await kubectl('logs', 'talks', '--previous')).err).toContain('previous terminated container "main"');
  });

  test('logs --previous shows the previous run, which has ended', async () => {
    await eventually(
      () => kubectl('logs', 'ends', '--previous'),
      ({ out }) => /^run \d+\n$/.test(out),
    );
  });

  test('logs -f follows until the run ends', async () => {
    const followed = begin(['logs', '-f', 'talks']);
    await eventually(
      async () => followed.text(),
      (text) => text === 'listening\n',
    );
    const port = cluster.cluster.node?.podPort('default', 'talks', 80) ?? 0;
    await ask(port, '/say?text=more').catch(() => undefined);
    await eventually(
      async () => followed.text(),
      (text) => text === 'listening\nmore\n',
    );
    await ask(port, '/exit?code=0').catch(() => undefined);
    await followed.ended;
  });

  test.each([
    { protocol: 'a WebSocket', env: {} },
    { protocol: 'SPDY', env: { KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' } },
  ])('port-forward leads to a port of a pod over $protocol', async ({ env }) => {
    // Its container has ended before, and kubectl gives up if a pod does not accept a connection.
    const ofPod = cluster.cluster.node?.podPort('default', 'talks', 80) ?? 0;
    await eventually(
      () => ask(ofPod, '/large?bytes=1').catch(() => ''),
      (text) => text.length === 1,
    );
    const port = await freePort();
    const forwarding = begin(['port-forward', 'pod/talks', `${port}:80`], env);
    await eventually(
      async () => forwarding.text(),
      (text) => text.includes(`127.0.0.1:${port}`),
    );
    const path = `/large?bytes=3000000`;
    const texts = await eventually(
      () => Promise.all([ask(port, path), ask(port, path)]).catch(() => []),
      (all) => all.length === 2,
    );
    expect(texts.map((text) => text.length)).toEqual([3_000_000, 3_000_000]);
  });

  test('port-forward reports a port on which nothing listens', async () => {
    const port = await freePort();
    const forwarding = begin(['port-forward', 'pod/talks', `${port}:81`]);
    await eventually(
      async () => forwarding.text(),
      (text) => text.includes(`127.0.0.1:${port}`),
    );
    await ask(port, '/').catch(() => undefined);
    await eventually(
      async () => forwarding.text(),
      (text) => text.includes('nothing listens on port 81 of this pod'),
    );
  });

  test('exec is refused with the reason', async () => {
    expect((await kubectl('exec', 'talks', '--', 'ls')).err).toContain('there is no container to run a command in');
  });
});

// Attaching to containers through the API server of the suite: where that is a real one, it passes the connection on to a
// kubelet's port on this machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAttach } from '#adapters/attach/attach.ts';
import type { AttachOptions } from '#adapters/attach/options.ts';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { openCredentials } from '#adapters/cluster/credentials.ts';
import type { Streams, StreamsHandlers } from '#gateway/backends/ports.ts';
import { systemClock } from '#hosts/clock.ts';
import { isObject } from '#std/json.ts';
import { listener } from '../adapters/attach/listener.ts';
import { clock, FIXTURE } from '../gateway/backends/stdio/world.ts';
import {
  cannotRunPods,
  type Images,
  openServerWithNode,
  type SuiteWithNode,
  type TestNode,
} from '../harness/node/suite.ts';
import { writeKubeconfigOfAccount } from './account.ts';
import { eventually } from './server.ts';

const kubeconfig = process.env.KUBECONFIG ?? '';
const reason = await cannotRunPods(kubeconfig);
const IMAGES = {
  'images.example.com/program:1': { command: [process.execPath, FIXTURE] },
} satisfies Images;

let suite: SuiteWithNode;
let admin: ConnectedCluster;
let machine: TestNode;
let namespace: string;
let options: Omit<AttachOptions, 'pod'>;
const open: Streams[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((streams) => streams.close()));
});

async function start(name: string, ...args: readonly string[]): Promise<void> {
  await create(name, 'program', args);
  await eventually(
    () => instanceOf(name),
    (running) => running !== undefined,
  );
}

async function create(name: string, image: string, args: readonly string[] = [], more = {}): Promise<void> {
  const container = { name: 'mcp', image: `images.example.com/${image}:1`, args: [...args], stdin: true, ...more };
  const spec = { automountServiceAccountToken: false, containers: [container] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
  await admin.apply(pod, { force: false });
}

/** As the pod's status has it; undefined while it does not run. */
async function instanceOf(name: string): Promise<string | undefined> {
  const pod = await admin.get({ apiVersion: 'v1', kind: 'Pod', namespace, name });
  const statuses = isObject(pod?.status) ? pod.status.containerStatuses : [];
  const [status] = Array.isArray(statuses) ? statuses.filter(isObject) : [];
  const running = isObject(status?.state) && isObject(status.state.running);
  return running ? `${status?.containerID}/${status?.restartCount}` : undefined;
}

async function attachTo(pod: string, heard: StreamsHandlers, more: Partial<AttachOptions> = {}): Promise<Streams> {
  const streams = await createAttach({ ...options, pod: () => pod, ...more })(0, heard);
  open.push(streams);
  return streams;
}

function container(pod: string) {
  return { namespace, pod, container: 'mcp' };
}

describe.skipIf(reason !== undefined)(`attaching ${reason ?? ''}`, () => {
  beforeAll(async () => {
    suite = await openServerWithNode(kubeconfig);
    namespace = await suite.server.namespace('attach');
    admin = await suite.server.client('suite');
    const credentials = await openCredentials({ kubeconfig: suite.server.kubeconfig, clock: systemClock });
    options = { server: credentials.server, namespace, container: 'mcp', credentials: credentials.current, clock };
    machine = await suite.run([namespace], IMAGES);
  });

  afterAll(async () => {
    await suite?.close();
  });

  test('carries input and output, with standard error apart', async () => {
    await start('cat', 'cat');
    const heard = listener();
    const streams = await attachTo('cat', heard);
    streams.write(Buffer.from('hello\n'));
    await heard.until('hello\n');
    await eventually(
      async () => heard.text.stderr,
      (text) => text === 'cat of hello\n',
    );
    expect(heard.text.stdout).toBe('hello\n');
    expect(streams.instance).toBe(await instanceOf('cat'));
  });

  test('carries 6 MB each way in one write', async () => {
    await start('much', 'cat');
    const heard = listener();
    const streams = await attachTo('much', heard);
    streams.write(Buffer.from(`${'x'.repeat(6_000_000)}\n`));
    await heard.until('x\n');
    expect(heard.text.stdout.length).toBe(6_000_001);
  });

  test('brings all output to each of two connections', async () => {
    await start('two', 'cat');
    const [first, second] = [listener(), listener()];
    const streams = await attachTo('two', first);
    await attachTo('two', second);
    streams.write(Buffer.from('for both\n'));
    await Promise.all([first.until('for both\n'), second.until('for both\n')]);
  });

  test('loses nothing while nothing is read', async () => {
    const size = 200_000_000;
    await start('flood', 'flood', String(size));
    const heard = listener();
    let received = 0;
    const count = (chunk: Buffer) => {
      received += chunk.length;
    };
    const streams = await attachTo('flood', { ...heard, stdout: count });
    streams.pause();
    streams.write(Buffer.from('go\n'));
    const before = process.memoryUsage().rss;
    // A process that was not slowed down would have ended by now, and its container be started again.
    const other = listener();
    await start('meanwhile', 'cat');
    const still = await attachTo('meanwhile', other);
    still.write(Buffer.from('meanwhile\n'));
    await other.until('meanwhile\n');
    expect(received).toBe(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    streams.resume();
    expect(await heard.end).toBe('the container ended: Success');
    expect(received).toBe(size);
  });

  test('reports the end of the container with what its status says, and another instance after it', async () => {
    await start('ends', 'cat');
    const heard = listener();
    const first = await attachTo('ends', heard);
    machine.containers.signal(container('ends'), 'SIGKILL');
    expect(await heard.end).toBe('the container ended: command terminated with SIGKILL');
    await eventually(
      () => instanceOf('ends'),
      (running) => running !== undefined && running !== first.instance,
    );
    expect((await attachTo('ends', listener())).instance).not.toBe(first.instance);
  });

  test('reports a node that is gone, which is no end of the container', async () => {
    await start('severed', 'cat');
    const heard = listener();
    const { instance } = await attachTo('severed', heard);
    expect(machine.containers.sever(container('severed'))).toBe(true);
    expect(await heard.end).toBe('the connection to the container ended with 1006');
    expect((await attachTo('severed', listener())).instance).toBe(instance);
  });

  test('notices a node that answers no ping', async () => {
    await start('frozen', 'cat');
    const heard = listener();
    await attachTo('frozen', heard, { pingMs: 20, silentMs: 500 });
    machine.containers.freeze(container('frozen'), true);
    expect(await heard.end).toMatch(/^the container ended: nothing was heard of the node/);
    machine.containers.freeze(container('frozen'), false);
  });

  test('stays while the node answers pings', async () => {
    await start('quiet', 'cat');
    const heard = listener();
    const streams = await attachTo('quiet', heard, { pingMs: 20, silentMs: 500 });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    streams.write(Buffer.from('still here\n'));
    await heard.until('still here\n');
  });

  test('ends the input of a container with `stdinOnce`, and so the container', async () => {
    await create('input', 'program', ['cat'], { stdinOnce: true });
    await eventually(
      () => instanceOf('input'),
      (running) => running !== undefined,
    );
    const before = await instanceOf('input');
    const streams = await attachTo('input', listener());
    await streams.close();
    await eventually(
      () => instanceOf('input'),
      (running) => running !== undefined && running !== before,
    );
  });

  test('is refused for a pod that does not exist', async () => {
    await expect(attachTo('none', listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: 'the API server refuses pod none with 404: pods "none" not found',
    });
  });

  test('is refused for a container that does not exist', async () => {
    await start('other', 'cat');
    await expect(attachTo('other', listener(), { container: 'x' })).rejects.toMatchObject({
      code: 'attach-refused',
      message: expect.stringContaining('container x is not valid for pod other'),
    });
  });

  test.skipIf(kubeconfig === '')('is refused to an account without the right', async () => {
    await start('guarded', 'cat');
    const folder = mkdtempSync(join(tmpdir(), 'account-'));
    const path = join(folder, 'kubeconfig');
    await writeKubeconfigOfAccount(suite.server.kubeconfig, namespace, path, 'default');
    const { current } = await openCredentials({ kubeconfig: path, clock: systemClock });
    rmSync(folder, { recursive: true });
    await expect(attachTo('guarded', listener(), { credentials: current })).rejects.toMatchObject({
      code: 'attach-refused',
      data: { status: 403, kubernetesReason: 'Forbidden' },
    });
  });
});

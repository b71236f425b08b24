// Attaching to containers of a development cluster over real HTTPS and WebSockets.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createAttach } from '#adapters/attach/attach.ts';
import type { AttachProtocol } from '#adapters/attach/options.ts';
import type { Streams } from '#gateway/backends/ports.ts';
import type { Failure } from '#std/failure.ts';
import { FIXTURE } from '../../gateway/backends/stdio/world.ts';
import { type Heard, listener } from './listener.ts';
import { type AttachWorld, openAttachWorld, POD } from './world.ts';

let world: AttachWorld | undefined;
const open: Streams[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((streams) => streams.close()));
  await world?.stop();
});

async function attachTo(started: AttachWorld, heard: Heard, more = {}): Promise<Streams> {
  const streams = await createAttach({ ...started.options, ...more })(0, heard);
  open.push(streams);
  return streams;
}

describe.each<AttachProtocol>(['v4.channel.k8s.io', 'v5.channel.k8s.io'])('%s', (protocol) => {
  test('carries input and output, with standard error apart', async () => {
    world = await openAttachWorld([protocol]);
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    const streams = await attachTo(world, heard);
    streams.write(Buffer.from('hello\n'));
    await heard.until('hello\n');
    expect(heard.text).toEqual({ stdout: 'hello\n', stderr: 'cat of hello\n' });
    expect(streams.instance).toMatch(/^local:\/\/\d+\/0$/);
  });

  test('reports the end of the container with what its status says', async () => {
    world = await openAttachWorld([protocol]);
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    await attachTo(world, heard);
    world.containers.signal(POD, 'SIGKILL');
    expect(await heard.end).toBe('the container ended: command terminated with SIGKILL');
  });

  test('gives another instance to another run of the container', async () => {
    world = await openAttachWorld([protocol]);
    await world.run(FIXTURE, ['cat']);
    const first = await attachTo(world, listener());
    world.containers.signal(POD, 'SIGKILL');
    await world.containers.ended(POD);
    await world.run(FIXTURE, ['cat']);
    const second = await attachTo(world, listener());
    expect(second.instance).not.toBe(first.instance);
  });

  test('carries 6 MB each way in one write', async () => {
    world = await openAttachWorld([protocol]);
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    const streams = await attachTo(world, heard);
    streams.write(Buffer.from(`${'x'.repeat(6_000_000)}\n`));
    await heard.until('x\n');
    expect(heard.text.stdout.length).toBe(6_000_001);
  });

  test('slows the container down while nothing is read', async () => {
    world = await openAttachWorld([protocol]);
    await world.run(FIXTURE, ['flood', '200000000']);
    const heard = listener();
    let received = 0;
    const streams = await attachTo(world, {
      ...heard,
      stdout(chunk) {
        received += chunk.length;
      },
    });
    streams.pause();
    streams.write(Buffer.from('go\n'));
    const before = process.memoryUsage().rss;
    await quiet(() => received);
    expect(received).toBe(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000);
    const finished = heard.end;
    streams.resume();
    await finished;
    expect(received).toBe(200_000_000);
  });
});

/** Settled once the number stays as it is. */
async function quiet(read: () => number): Promise<void> {
  for (let last = -1, same = 0; same < 20; ) {
    const next = read();
    same = next === last ? same + 1 : 0;
    last = next;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('v4', () => {
  test('is asked for first', async () => {
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    await attachTo(world, heard);
    world.containers.sever(POD);
    // With v5 it would look as if the container had ended.
    expect(await heard.end).toBe('the connection to the container ended with 1006');
  });

  test('notices a node that answers no ping', async () => {
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    await attachTo(world, heard, { pingMs: 20, silentMs: 200 });
    world.containers.freeze(POD, true);
    expect(await heard.end).toMatch(/^the container ended: nothing was heard of the node/);
  });
});

test('a quiet connection stays while the node answers pings', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['cat']);
  const heard = listener();
  const streams = await attachTo(world, heard, { pingMs: 20, silentMs: 200 });
  await new Promise((resolve) => setTimeout(resolve, 600));
  streams.write(Buffer.from('still here\n'));
  await heard.until('still here\n');
});

test('a connection that ends before it is handed over is reported after that', async () => {
  world = await openAttachWorld(['v4.channel.k8s.io']);
  await world.run(FIXTURE, ['cat']);
  // The GET of the pod takes so long that the node is gone meanwhile.
  const match = { verb: 'get', resource: 'pods', name: POD.pod };
  world.cluster.cluster.faults.add({ match, action: { delayMs: 300 } });
  const heard = listener();
  const attaching = attachTo(world, heard);
  while (!world.containers.sever(POD)) await new Promise((resolve) => setTimeout(resolve, 5));
  await attaching;
  expect(await heard.end).toContain('1006');
});

describe('v5', () => {
  test('takes a lost node for an end of the container, as the API server says', async () => {
    world = await openAttachWorld(['v5.channel.k8s.io']);
    await world.run(FIXTURE, ['cat']);
    const heard = listener();
    await attachTo(world, heard);
    world.containers.sever(POD);
    expect(await heard.end).toBe('the container ended: Success');
  });

  test('ends the input of a container whose input is for one connection, and of no other', async () => {
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat']);
    await (await attachTo(world, listener())).close();
    const heard = listener();
    const streams = await attachTo(world, heard);
    streams.write(Buffer.from('still here\n'));
    await heard.until('still here\n');
    await world.stop();
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat'], {}, { stdinOnce: true });
    await (await attachTo(world, listener())).close();
    await world.containers.ended(POD);
  });

  test('deletes the pod if it should be replaced, and says why if it cannot', async () => {
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat']);
    const failures: Failure[] = [];
    const replacePod = { failed: (failure: Failure) => void failures.push(failure) };
    const first = await attachTo(world, listener(), { replacePod });
    const second = await attachTo(world, listener(), { replacePod });
    await first.close();
    await expect(createAttach(world.options)(0, listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: 'the API server refuses pod server-0 with 404: pods "server-0" not found',
    });
    await second.close();
    expect(failures).toEqual([]);
  });
});

describe('a refusal says why', () => {
  test('a pod that does not exist', async () => {
    world = await openAttachWorld();
    const attach = createAttach({ ...world.options, pod: () => 'other' });
    await expect(attach(0, listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: 'the API server refuses pod other with 404: pods "other" not found',
    });
  });

  test('a container that does not run', async () => {
    world = await openAttachWorld();
    await expect(createAttach(world.options)(0, listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: expect.stringContaining('container mcp does not run on any node'),
      retryable: true,
    });
  });

  test('a container that crashes, as its status has it', async () => {
    world = await openAttachWorld();
    await world.run(FIXTURE, ['cat']);
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const status = { name: 'mcp', restartCount: 3, ready: false, image: 'a:1', imageID: 'a', state };
    const body = { status: { containerStatuses: [status] } };
    const path = '/api/v1/namespaces/default/pods/server-0/status';
    await world.cluster.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
    await expect(createAttach(world.options)(0, listener())).rejects.toMatchObject({
      code: 'attach-not-running',
      message: 'container mcp of pod server-0 does not run: CrashLoopBackOff',
    });
  });

  test('a container that does not exist', async () => {
    world = await openAttachWorld();
    await expect(createAttach({ ...world.options, container: 'x' })(0, listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: expect.stringContaining('container x is not valid for pod server-0'),
    });
  });

  test('a token that is not accepted', async () => {
    world = await openAttachWorld();
    const { tls } = await world.options.credentials();
    const credentials = async () => ({ headers: { authorization: 'Bearer wrong' }, tls });
    await expect(createAttach({ ...world.options, credentials })(0, listener())).rejects.toMatchObject({
      code: 'attach-refused',
      message: expect.stringContaining('401: Unauthorized'),
      retryable: false,
    });
  });

  test('a certificate that is not trusted', async () => {
    world = await openAttachWorld();
    const { headers } = await world.options.credentials();
    const credentials = async () => ({ headers, tls: {} });
    await expect(createAttach({ ...world.options, credentials })(0, listener())).rejects.toMatchObject({
      code: 'attach-unreachable',
    });
  });
});

describe('another subprotocol is asked for', () => {
  const status = (reason: string, message: string) => JSON.stringify({ kind: 'Status', reason, message });

  /** Refuses whatever it is asked to change to. Gives the subprotocols that it was asked for, and why nothing came of it. */
  async function refusedWith(code: string, body: string): Promise<{ asked: string[]; error: unknown }> {
    const asked: string[] = [];
    const server = createServer().on('upgrade', ({ headers }, socket) => {
      asked.push(headers['sec-websocket-protocol'] ?? '');
      socket.end(`HTTP/1.1 ${code}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    world = await openAttachWorld();
    const attach = createAttach({ ...world.options, server: `http://127.0.0.1:${port}` });
    const error: unknown = await attach(0, listener()).catch((reason: unknown) => reason);
    server.close();
    return { asked, error };
  }

  test.each([
    ['400 Bad Request', 'unable to upgrade: unable to negotiate protocol: client supports [v4.channel.k8s.io]'],
    ['400 Bad Request', status('BadRequest', 'Upgrade request required')],
    ['403 Forbidden', ''],
    ['403 Forbidden', 'requested protocol(s) are not supported: [v4.channel.k8s.io]; supports [v5.channel.k8s.io]'],
  ])('where the server says that it does not know the first: %s %s', async (code, body) => {
    expect((await refusedWith(code, body)).asked).toEqual(['v4.channel.k8s.io', 'v5.channel.k8s.io']);
  });

  test.each([
    ['400 Bad Request', status('BadRequest', 'container mcp is not valid for pod server-0'), 'is not valid for pod'],
    ['400 Bad Request', '', 'with 400'],
    ['403 Forbidden', status('Forbidden', 'pods is forbidden: cannot upgrade'), 'pods is forbidden'],
    ['404 Not Found', status('NotFound', 'no protocol of that name'), 'with 404'],
    ['500 Internal Server Error', 'unable to upgrade connection', 'with 500'],
  ])('and not where it refuses for another reason: %s %s', async (code, body, said) => {
    const { asked, error } = await refusedWith(code, body);
    expect(asked).toEqual(['v4.channel.k8s.io']);
    expect(error).toMatchObject({ code: 'attach-refused', message: expect.stringContaining(said) });
  });
});

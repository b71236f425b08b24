// Git over https behind an HTTP proxy, by the executable with HTTPS_PROXY and NO_PROXY in its environment: what goes through, what
// goes around it, and that the rules on addresses hold for the target and not for the proxy.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConnectProxy, startConnectProxy, startTlsFront, type TlsFront } from '../harness/connect-proxy.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { type Finished, startSkep } from '../harness/skep.ts';
import { startWorld, type World } from '../harness/world.ts';

/** No resolver knows it (RFC 2606): only the proxy does. */
const NAME = 'git.fleet.invalid';
let world: World;
let front: TlsFront;
let proxy: ConnectProxy;
let folder: InstanceFolder;
let version = 0;

beforeAll(async () => {
  world = await startWorld();
  front = await startTlsFront([NAME, 'localhost'], Number(new URL(world.git.url).port));
  folder = instanceFolder(world);
  writeFileSync(join(folder.dir, 'ca.pem'), front.authority);
});
beforeEach(async () => {
  await proxy?.close();
  proxy = await startConnectProxy();
});
afterAll(async () => {
  folder.remove();
  await Promise.all([proxy.close(), front.close(), world.close()]);
});

/** One run of what a new commit declares, from the host as the proxy or the resolver knows it. */
async function sync(host: string, env: Record<string, string>, allowPrivate: readonly string[]): Promise<Finished> {
  version += 1;
  const metadata = `{name: ${mapOf(host)}, namespace: default}`;
  world.fleet.commit({
    [`${host}/map.yaml`]: `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\ndata: {k: '${version}'}\n`,
  });
  folder.configure({
    // Another host is another source, and that an instance of other sources only must not take over.
    name: mapOf(host),
    sources: [{ name: 'fleet', repository: `https://${host}:${front.port}/fleet.git`, branch: 'main', path: host }],
    outbound: { allowPrivate, caFile: join(folder.dir, 'ca.pem') },
    apply: { waitSeconds: 0 },
    stateDir: join(folder.dir, `state-${version}`),
  });
  return startSkep(['sync', '--no-color'], { cwd: folder.dir, env }).finished;
}

function mapOf(host: string): string {
  return `by-${host.replaceAll('.', '-')}`;
}

/** Whether what the last commit declares is there. */
async function isApplied(host: string): Promise<boolean> {
  const { body } = await world.cluster.send('GET', `/api/v1/namespaces/default/configmaps/${mapOf(host)}`);
  return body.data?.k === String(version);
}

const CREDENTIALS = `Basic ${Buffer.from('bot:s@fe').toString('base64')}`;

test.each(['HTTPS_PROXY', 'https_proxy'])(
  'with %s a commit is fetched through the tunnel, and applied',
  async (name) => {
    const { code, stderr } = await sync(NAME, { [name]: proxy.url }, []);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('s@fe')]);
    expect(await isApplied(NAME)).toBe(true);
    expect(new Set(proxy.asked)).toEqual(new Set([`${NAME}:${front.port} ${CREDENTIALS}`]));
  },
);

test('a target at a private address is refused though there is a proxy, and the proxy is not asked', async () => {
  const { code, stdout, stderr } = await sync('localhost', { HTTPS_PROXY: proxy.url }, []);
  expect([code, proxy.asked]).toEqual([1, []]);
  expect(stdout + stderr).toMatch(/localhost resolves to (127\.0\.0\.1|::1), which is .*; outbound\.allowPrivate/);
});

test('a target at a private address that is allowed goes through the proxy, but not where NO_PROXY names it', async () => {
  const allowed = ['127.0.0.0/8', '::1'];
  const through = await sync('localhost', { HTTPS_PROXY: proxy.url }, allowed);
  expect([through.code, new Set(proxy.asked)]).toEqual([0, new Set([`localhost:${front.port} ${CREDENTIALS}`])]);
  await proxy.close();
  proxy = await startConnectProxy();
  const around = await sync('localhost', { HTTPS_PROXY: proxy.url, NO_PROXY: 'example.com,localhost' }, allowed);
  expect([around.code, proxy.asked]).toEqual([0, []]);
  expect(await isApplied('localhost')).toBe(true);
});

test('a proxy that lets nobody through is named without its password', async () => {
  await proxy.close();
  proxy = await startConnectProxy('407 Proxy Authentication Required');
  const { code, stdout, stderr } = await sync(NAME, { HTTPS_PROXY: proxy.url }, []);
  expect([code, proxy.asked.length > 0]).toEqual([1, true]);
  expect(stdout + stderr).toMatch(/the proxy 127\.0\.0\.1:\d+ answered CONNECT with 407/);
  expect(stdout + stderr).not.toMatch(/s@fe|s%40fe/);
});

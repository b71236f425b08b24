// `skep dev` serves registries as Git has them: a later one without a restart, and each at the same URL after a restart. Without
// any of them the page is there.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, probePort } from '#kubernetes/devcluster/node/free-port.ts';
import { createRepository, temporaryFolder } from '../harness/git-server.ts';
import { type Running, startSkep } from '../harness/skep.ts';

/** A fleet whose sources are on this machine is followed all the same. */
const YEARLY = '0 0 1 1 *';

const folder = temporaryFolder();
const fleet = createRepository(join(folder.path, 'fleet'));
let port: number;
let dev: Running;

const CONTENT = JSON.stringify({
  servers: { clock: { image: 'images.example.com/clock:1', transport: 'stdio', description: 'Time' } },
});

function registry(name: string, ...sources: readonly string[]): string {
  const configMapRef = { name: 'servers', key: 'registry.json' };
  return JSON.stringify({
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name, namespace: 'team' },
    spec: { registries: sources.map((source) => ({ name: source, configMapRef })) },
  });
}

const BASE = [
  JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }),
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'servers', namespace: 'team' },
    data: { 'registry.json': CONTENT },
  }),
].join('\n---\n');

/** Three ports in a row, as `skep dev` takes them. */
async function threeFreePorts(): Promise<number> {
  for (;;) {
    const first = await freePort();
    if ((await probePort(first + 1)) && (await probePort(first + 2))) return first;
  }
}

function start(): Running {
  dev = startSkep(['dev', '-c', 'skep.yaml', '--data', 'dev', '--port', String(port)], { cwd: folder.path });
  return dev;
}

/** `path`: the folder of the repository that is followed. */
function configure(path: string): void {
  const repository = pathToFileURL(fleet.dir).href;
  const sources = [{ name: 'fleet', repository, branch: 'main', path }];
  writeFileSync(join(folder.path, 'skep.yaml'), JSON.stringify({ name: 'dev', sources, schedule: YEARLY }));
}

/** As the guide lists them. */
async function urlsAtStart(): Promise<readonly string[]> {
  const output = await start().printed('Ctrl-C stops everything');
  return [...output.matchAll(/^registry +(\S+)$/gm)].map(([, url = '']) => url);
}

const urlOf = (offset: number, source: string) => `http://127.0.0.1:${port + offset}/${source}/v0.1/servers`;

async function serversAt(url: string): Promise<number> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const { servers } = (await response.json()) as { servers: readonly unknown[] };
  return servers.length;
}

beforeAll(async () => {
  port = await threeFreePorts();
  configure('');
  fleet.commit({ 'base.yaml': BASE });
});

afterAll(async () => {
  dev?.kill('SIGKILL');
  await dev?.finished;
  folder.remove();
});

test('a fleet without an MCPRegistry has the console and the page of its servers at the main port, and no catalogue', async () => {
  const output = await start().printed('Ctrl-C stops everything');
  const main = `http://127.0.0.1:${port}`;
  expect(
    [...output.matchAll(/^(console|catalogue|registry) +([^#\s]+)/gm)].map(([, what, url]) => [what, url]),
  ).toEqual([
    ['console', `${main}/`],
    ['catalogue', `${main}/catalogue`],
  ]);
  const console = await fetch(`${main}/`);
  expect(await console.text()).toContain('data-catalogue="/catalogue"');
  const page = await fetch(`${main}/catalogue`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('data-running="beside"')]);
  const registries = await fetch(`${main}/extension/v0/registries`);
  expect(await registries.json()).toEqual({ registries: [] });
});

test('a registry that is committed later is served without a restart, and one that changes is served as it is then', async () => {
  fleet.commit({ 'main.yaml': registry('main', 'tools') });
  await dev.printed(`registry ${urlOf(0, 'tools')} is served`);
  expect(await serversAt(urlOf(0, 'tools'))).toBe(1);
  fleet.commit({ 'earlier-in-the-alphabet.yaml': registry('earlier', 'others') });
  await dev.printed(`registry ${urlOf(1, 'others')} is served`);
  expect(await serversAt(urlOf(1, 'others'))).toBe(1);
  expect(await serversAt(urlOf(0, 'tools'))).toBe(1);
  fleet.commit({ 'main.yaml': registry('main', 'tools', 'more') });
  await dev.printed(`registry ${urlOf(0, 'more')} is served`);
  expect(await serversAt(urlOf(0, 'more'))).toBe(1);
});

test('after a restart each registry has the URL that it had', async () => {
  dev.kill('SIGINT');
  await dev.finished;
  expect(await urlsAtStart()).toEqual([urlOf(0, 'tools'), urlOf(0, 'more'), urlOf(1, 'others')]);
  expect(await serversAt(urlOf(1, 'others'))).toBe(1);
});

test('a list of places that cannot be read is written again', async () => {
  dev.kill('SIGINT');
  await dev.finished;
  const file = join(folder.path, 'dev', 'registries.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['team/main', 'team/earlier']);
  rmSync(file);
  writeFileSync(file, 'nonsense');
  expect(await urlsAtStart()).toEqual([urlOf(0, 'others'), urlOf(1, 'tools'), urlOf(1, 'more')]);
});

test('a port that another program has keeps one registry from being served, until the port is free', async () => {
  dev.kill('SIGINT');
  await dev.finished;
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port + 1, '127.0.0.1', resolve));
  expect(await urlsAtStart()).toEqual([urlOf(0, 'others')]);
  await dev.printed(`MCPRegistry team/main is not served: cannot listen on 127.0.0.1:${port + 1}`);
  fleet.commit({ 'third.yaml': registry('third', 'three') });
  await dev.printed(`registry ${urlOf(2, 'three')} is served`);
  expect(await serversAt(urlOf(0, 'others'))).toBe(1);
  await new Promise((resolve) => other.close(resolve));
  await dev.printed(`registry ${urlOf(1, 'tools')} is served`);
});

test('the same repository with another path goes on without an approval', async () => {
  dev.kill('SIGINT');
  await dev.finished;
  const registries = { 'main.yaml': ['main', 'tools', 'more'], 'second.yaml': ['earlier', 'others'] } as const;
  fleet.commit({
    'cluster/base.yaml': BASE,
    ...Object.fromEntries(
      Object.entries(registries).map(([file, [name, ...sources]]) => [`cluster/${file}`, registry(name, ...sources)]),
    ),
    'cluster/third.yaml': registry('third', 'three'),
  });
  configure('cluster');
  const urls = await urlsAtStart();
  fleet.commit({ 'cluster/fourth.yaml': registry('fourth', 'four') });
  await dev.printed('/four/v0.1/servers is served');
  expect(urls).toEqual([urlOf(0, 'others'), urlOf(1, 'tools'), urlOf(1, 'more'), urlOf(2, 'three')]);
});

test('a registry whose settings are in configYAML is served too', async () => {
  const configYAML = `sources: [{name: files, format: toolhive, file: {path: /data/registry.json}}]
registries: [{name: texts, sources: [files]}]
auth: {mode: anonymous}
`;
  const spec = {
    configYAML,
    volumes: [{ name: 'files', configMap: { name: 'servers' } }],
    volumeMounts: [{ name: 'files', mountPath: '/data' }],
  };
  const metadata = { name: 'texts', namespace: 'team' };
  const text = JSON.stringify({ apiVersion: 'toolhive.stacklok.dev/v1beta1', kind: 'MCPRegistry', metadata, spec });
  fleet.commit({ 'cluster/texts.yaml': text });
  const output = await dev.printed('/texts/v0.1/servers is served');
  const [, url = ''] = /registry (\S+\/texts\/v0.1\/servers) is served/.exec(output) ?? [];
  expect(await serversAt(url)).toBe(1);
});

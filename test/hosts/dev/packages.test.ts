// `skep dev --run npm,pypi`: images whose entries name a package as well run as that package, installed without its scripts, with
// the environment of their pod alone; others say why they do not.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServers } from '#contracts/running-servers.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Running, startSkep } from '../../harness/skep.ts';
import { connect } from '../../recordings/api.ts';
import { findTool, NPM_PACKAGE, type PackageIndexes, startIndexes, WHEEL } from './packages/indexes.ts';

const NO_UV = 'skipped: there is no uv to install a wheel with. Get it with `pip install uv`\n';
const hasUv = findTool('uv') !== undefined;
if (!hasUv) process.stderr.write(NO_UV);

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const ran = join(folder.path, 'install-script-ran');
let indexes: PackageIndexes;
let dev: Running | undefined;

beforeAll(async () => {
  indexes = await startIndexes(join(folder.path, 'made'), ran);
  writeFleet(join(folder.path, 'repository'));
});

afterAll(async () => {
  dev?.kill('SIGTERM');
  await dev?.finished;
  indexes?.stop();
  folder.remove();
});

function entry(name: string, pkg: object): object {
  const image = { registryType: 'oci', identifier: `images.example.com/${name}:1.2.3`, transport: { type: 'stdio' } };
  const packages = [image, { transport: { type: 'stdio' }, ...pkg }];
  return { name: `com.example/${name}`, description: `The server ${name}.`, version: '1.2.3', packages };
}

function writeFleet(dir: string): void {
  const servers = [
    entry('bees', {
      ...{ registryType: 'npm', identifier: NPM_PACKAGE.name, version: NPM_PACKAGE.version },
      packageArguments: [{ type: 'named', name: '--hive', value: 'skep' }],
    }),
    entry('wheel', { registryType: 'pypi', identifier: WHEEL.name, version: WHEEL.version }),
    entry('loose', { registryType: 'npm', identifier: NPM_PACKAGE.name, version: 'latest' }),
    entry('gone', { registryType: 'npm', identifier: '@fixture/gone', version: '1.0.0' }),
  ];
  const catalogue = { $schema: '', version: '1', last_updated: '2026-01-01T00:00:00Z', data: { servers } };
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'catalogue' },
      data: { 'all.json': JSON.stringify(catalogue) },
    },
    {
      ...{ apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPRegistry', metadata: { name: 'catalogue' } },
      spec: { registries: [{ name: 'all', format: 'upstream', configMapRef: { name: 'catalogue', key: 'all.json' } }] },
    },
    server('bees', { env: [{ name: 'DECLARED', value: 'yes' }] }),
    server('said', { image: 'images.example.com/bees:1.2.3', args: ['--hive', 'another'] }),
    server('web', { image: 'images.example.com/bees:1.2.3', transport: 'streamable-http' }),
    ...['wheel', 'loose', 'gone'].map((name) => server(name, {})),
  ];
  mkdirSync(dir, { recursive: true });
  const documents = objects.map((each) =>
    JSON.stringify({ ...each, metadata: { ...each.metadata, namespace: 'default' } }),
  );
  writeFileSync(join(dir, 'fleet.yaml'), documents.join('\n---\n'));
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'A fleet');
  const sources = [{ name: 'fleet', repository: pathToFileURL(dir).href, branch: 'main' }];
  writeFileSync(
    join(folder.path, 'skep.yaml'),
    JSON.stringify({ name: 'own', sources, outbound: { allowFiles: true }, dev: { run: ['npm'] } }),
  );
}

function server(name: string, spec: object) {
  const image = `images.example.com/${name}:1.2.3`;
  const all = { image, transport: 'stdio', ...spec };
  return { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', metadata: { name }, spec: all };
}

async function start(...more: readonly string[]): Promise<string> {
  const env = { ...indexes.environment, SECRET_OF_THE_USER: 'hush' };
  dev = startSkep(['dev', '--port', '0', '-c', 'skep.yaml', '--data', data, ...more], { cwd: folder.path, env });
  return /(?<=console +)http:\/\/127\.0\.0\.1:\d+/.exec(await dev.printed('Ctrl-C stops everything'))?.[0] ?? '';
}

async function stop(): Promise<void> {
  dev?.kill('SIGTERM');
  expect((await dev?.finished)?.code).toBe(0);
}

interface Start {
  readonly args: readonly string[];
  readonly variables: readonly string[];
}

async function startOf(origin: string, name: string): Promise<Start> {
  const { servers } = await eventually(
    async () => (await (await fetch(`${origin}/mcp`)).json()) as RunningServers,
    (all) => all.servers.some((each) => each.name === name && each.ready),
  );
  const url = servers.find((each) => each.name === name)?.url ?? '';
  const [, token] = /^token +(\S+)/m.exec(dev?.output() ?? '') ?? [];
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'packages', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { content } = await client.callTool({ name: 'describe_start', arguments: {} });
  await client.close();
  return JSON.parse((content as { text: string }[])[0]?.text ?? '');
}

/** The messages of all Events that name a workload or pod of the server. */
async function eventsOf(name: string): Promise<string> {
  const api = await connect(join(data, 'cluster', 'kubeconfig'));
  try {
    const { body } = await api.call({ method: 'GET', path: '/api/v1/namespaces/default/events', query: {} });
    const { items } = body as unknown as { items: { involvedObject: { name: string }; message: string }[] };
    const own = items.filter(({ involvedObject }) => new RegExp(`^${name}(-0)?$`).test(involvedObject.name));
    return own.map(({ message }) => message).join('\n');
  } finally {
    await api.close();
  }
}

let origin: string;

test('an image runs as the npm package of its entry, with the environment of its pod and none of the install scripts', async () => {
  origin = await start('--run', 'npm,pypi');
  const { args, variables } = await startOf(origin, 'bees');
  expect(args).toEqual(['--hive', 'skep']);
  expect(variables).toEqual(expect.arrayContaining(['DECLARED', 'HOME', 'PATH']));
  expect(variables.filter((name) => /SECRET|npm_|UV_/i.test(name))).toEqual([]);
  expect(indexes.asked).toContain('/bees.tgz');
  expect(existsSync(ran)).toBe(false);
});

test('arguments of the manifest take the place of those of the package, which is installed once', async () => {
  expect((await startOf(origin, 'said')).args).toEqual(['--hive', 'another']);
  expect(indexes.asked.filter((path) => path === '/bees.tgz')).toHaveLength(1);
});

test.skipIf(!hasUv)('an image runs as the wheel of its entry', async () => {
  const { variables } = await startOf(origin, 'wheel');
  expect(variables.filter((name) => /SECRET|npm_|UV_/i.test(name))).toEqual([]);
});

test.each([
  ['loose', 'has no exact version', 'no entry of the catalogue names a package of an exact version for it'],
  ['web', 'speaks another transport', 'speaks stdio, but the server is declared as streamable-http'],
  ['gone', 'is in no registry', '404'],
])('of the server %s, whose package %s, an Event says why it does not run', async (name, _, message) => {
  await eventually(
    () => eventsOf(name),
    (text) => text.includes(message),
  );
});

test('without its registry it runs again, as dev.run of skep.yaml says, and other types do not', async () => {
  await stop();
  indexes.stop();
  origin = await start();
  expect((await startOf(origin, 'bees')).args).toEqual(['--hive', 'skep']);
  await eventually(
    () => eventsOf('wheel'),
    (text) => text.includes('(--run npm)'),
  );
});

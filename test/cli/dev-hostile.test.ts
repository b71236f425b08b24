// Commits of a stranger under `skep dev`: none of them starts a program or sends a file of this machine. Each attack would write a
// file of its own, or send a secret to a listener of the test.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServers } from '#contracts/running-servers.ts';
import { eventually } from '../harness/cluster.ts';
import { createRepository, temporaryFolder } from '../harness/git-server.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Running, startSkep } from '../harness/skep.ts';
import { type Api, connect } from '../recordings/api.ts';

const folder = temporaryFolder();
const marks = join(folder.path, 'marks');
const secretFile = join(folder.path, 'secret');
const SECRET = 'a-secret-of-the-developer';
const IMAGE = 'skep:1.0.0';
const API = 'toolhive.stacklok.dev/v1alpha1';
const fleet = createRepository(join(folder.path, 'fleet'));
let receiver: Receiver;
let dev: Running;
let api: Api;
let origin: string;

const touch = (name: string) => ['/bin/sh', '-c', `: > ${join(marks, name)}; cat`];
/** Code for a variable that Node.js reads. */
const nodeOptions = (name: string) => {
  const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(join(marks, name))}, "");`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
};

function runConfig(name: string): string {
  return JSON.stringify({
    ...{ schema_version: 'v0.1.0', name, namespace: 'evil', transport: 'stdio', proxy_mode: 'streamable-http' },
    ...{ host: '127.0.0.1', port: 8080, process: { command: touch(name) }, trust_proxy_headers: false },
    audit_config: { enabled: false, component: name },
  });
}

const object = (kind: string, name: string, fields: object, apiVersion = 'v1', metadata: object = {}) =>
  JSON.stringify({ apiVersion, kind, metadata: { name, namespace: 'evil', ...metadata }, ...fields });

const PROXY_ARGS = ['proxy', '--config=/etc/runconfig/runconfig.json'];
const podOf = (configMap: string) => ({
  containers: [
    { name: 'c', image: IMAGE, args: PROXY_ARGS, volumeMounts: [{ name: 'v', mountPath: '/etc/runconfig' }] },
  ],
  volumes: [{ name: 'v', configMap: { name: configMap } }],
});

function deployment(name: string, configMap: string, metadata: object = {}): string {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: podOf(configMap) };
  return object('Deployment', name, { spec: { selector: { matchLabels: labels }, template } }, 'apps/v1', metadata);
}

function server(name: string, spec: object): string {
  const sample = { image: IMAGE, args: ['sample', 'holidays'], transport: 'streamable-http', mcpPort: 3000 };
  return object('MCPServer', name, { spec: { ...sample, ...spec } }, API);
}

const oidc = (url: string) => ({
  type: 'inline',
  inline: {
    ...{ issuer: url, audience: 'a', jwksAuthTokenPath: secretFile },
    ...{ insecureAllowHTTP: true, jwksAllowPrivateIP: true },
  },
});

const registry = (url: string) => ({
  spec: {
    registries: [{ name: 'tools', configMapRef: { name: 'servers', key: 'registry.json' } }],
    authConfig: {
      mode: 'oauth',
      oauth: {
        providers: [{ name: 'p', issuerUrl: url, audience: 'a', authTokenFile: secretFile, allowPrivateIP: true }],
      },
    },
  },
});

const forgedRegistry = JSON.stringify({
  ...{ registryName: 'forged', namespace: 'evil', auth: { mode: 'anonymous' } },
  registries: [{ name: 'forged', format: 'upstream', file: { path: secretFile }, syncPolicy: { interval: '1m' } }],
});

const hostileVariables = (name: string) => [
  { name: 'NODE_OPTIONS', value: nodeOptions(name) },
  { name: 'BASH_FUNC_echo%%', value: `() { : > ${join(marks, `${name}-function`)}; }` },
];

function manifests(): readonly string[] {
  const { url } = receiver;
  const override = { proxyDeployment: { env: hostileVariables('proxy-variable') } };
  const probe = { exec: { command: touch('probe') }, periodSeconds: 1 };
  const probed = { spec: { containers: [{ name: 'mcp', livenessProbe: probe, readinessProbe: null }] } };
  const { volumes, containers } = podOf('process');
  const mounted = { spec: { containers: [{ name: 'mcp', volumeMounts: containers[0]?.volumeMounts }], volumes } };
  return [
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'evil' } }),
    object('ConfigMap', 'process', { data: { 'runconfig.json': runConfig('process') } }),
    deployment('plain', 'process'),
    deployment('labelled', 'process', { labels: { 'skep.dev/owner': 'mcpserver.good' } }),
    object('Pod', 'alone', { spec: podOf('process') }),
    server('good', { resourceOverrides: override }),
    server('own-image', { args: PROXY_ARGS, podTemplateSpec: mounted }),
    server('variables', { env: hostileVariables('server-variable'), podTemplateSpec: probed }),
    server('secured', { oidcConfig: oidc(url) }),
    object('ConfigMap', 'servers', { data: { 'registry.json': '{"servers": {}}' } }),
    object('MCPRegistry', 'catalogue', registry(url), API),
    object('ConfigMap', 'forged-registry-server-config', { data: { 'config.yaml': forgedRegistry } }),
  ];
}

async function read(path: string) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return (await api.call({ method: 'GET', path, query: {} })).body as any;
}

async function untilReady(names: readonly string[]): Promise<void> {
  await eventually(
    async () => (await (await fetch(`${origin}/mcp`)).json()) as RunningServers,
    ({ servers }) => names.every((name) => servers.some((each) => each.name === name && each.ready)),
  );
}

async function events(): Promise<readonly string[]> {
  const { items } = await read('/api/v1/namespaces/evil/events');
  return items.map(
    (event: { involvedObject: { kind: string; name: string }; reason: string; message: string }) =>
      `${event.involvedObject.kind} ${event.involvedObject.name}: ${event.reason}: ${event.message}`,
  );
}

async function untilEvent(text: string): Promise<void> {
  await eventually(events, (all) => all.some((each) => each.includes(text)));
}

/** Until a container of a pod whose name begins so waits for that reason. */
async function untilWaiting(pod: string, text: string): Promise<void> {
  await eventually(
    () => read('/api/v1/namespaces/evil/pods'),
    ({ items }) =>
      items.some(
        ({ metadata, status }: { metadata: { name: string }; status: object }) =>
          metadata.name.startsWith(pod) && JSON.stringify(status).includes(text),
      ),
  );
}

function bearer(): Record<string, string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return { authorization: `Bearer ${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: receiver.url, aud: 'a' })}.AAAA` };
}

beforeAll(async () => {
  mkdirSync(marks);
  writeFileSync(secretFile, SECRET);
  receiver = await startReceiver();
  fleet.commit({ 'fleet.yaml': manifests().join('\n---\n') });
  const sources = [{ name: 'fleet', repository: pathToFileURL(fleet.dir).href, branch: 'main' }];
  const settings = { name: 'hostile', sources, schedule: '* * * * * *', outbound: { allowFiles: true } };
  writeFileSync(join(folder.path, 'skep.yaml'), JSON.stringify(settings));
  dev = startSkep(['dev', '-c', 'skep.yaml', '--port', '0', '--data', 'state'], { cwd: folder.path });
  const text = await dev.printed('Ctrl-C stops everything');
  origin = /http:\/\/127\.0\.0\.1:\d+(?=\/catalogue)/.exec(text)?.[0] ?? '';
  api = await connect(join(folder.path, 'state', 'cluster', 'kubeconfig'));
});

afterAll(async () => {
  await api?.close();
  dev?.kill('SIGTERM');
  await dev?.finished;
  await receiver?.close();
  folder.remove();
});

test('our own image runs only for what a custom resource of skep renders', async () => {
  for (const name of ['plain', 'labelled']) {
    await untilEvent(`Deployment ${name}: NotRunHere: skep dev does not start skep proxy here: no MCPServer`);
  }
  await untilWaiting('own-image-0', 'the ConfigMap with runconfig.json does not belong to MCPServer own-image');
  await untilReady(['good', 'variables', 'secured']);
  expect((await read('/api/v1/namespaces/evil/pods/alone')).status?.containerStatuses).toBeUndefined();
  expect(readdirSync(marks)).toEqual([]);
});

test('variables that load code and probes that run commands are left out, and an Event names them', async () => {
  await untilEvent('VariableLeftOut: the variable NODE_OPTIONS is left out');
  await untilEvent('VariableLeftOut: the variable BASH_FUNC_echo%% is left out');
  // Variables that skep renders itself are no news.
  const named = (await events()).filter((each) => each.includes('Pod secured-') && each.includes('VariableLeftOut'));
  expect(named).toEqual([]);
  await untilEvent('Pod variables-0: ProbeLeftOut: the probe of container mcp that runs a command is left out');
  expect(readdirSync(marks)).toEqual([]);
});

test('no file of the developer is sent as a credential, by a proxy or by a registry', async () => {
  const headers = { ...bearer(), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const called = await fetch(`${origin}/mcp/evil/secured`, { method: 'POST', headers, body: '{}' });
  expect(called.status).toBe(503);
  const listed = await fetch(`${origin}/tools/v0.1/servers`, { headers: bearer() });
  expect(listed.status).toBe(503);
  expect(receiver.received.map((each) => each.headers.authorization)).toEqual([]);
  expect(JSON.stringify(receiver.received)).not.toContain(readFileSync(secretFile, 'utf8'));
});

test('a ConfigMap with the name of a registry service is not served', () => {
  expect(dev.output()).toMatch(/^registry +\S+\/tools\/v0\.1\/servers$/m);
  expect(dev.output()).not.toMatch(/^registry +\S+\/forged\/v0\.1\/servers$/m);
});

test('neither the true uid of a custom resource nor an overwritten configuration of it lets a commit name a process', async () => {
  const { metadata } = await read(`/apis/${API}/namespaces/evil/mcpservers/good`);
  const owner = { apiVersion: API, kind: 'MCPServer', name: 'good', uid: metadata.uid, controller: true };
  fleet.commit({
    'more.yaml': [
      deployment('forged', 'process', { ownerReferences: [owner] }),
      object('ConfigMap', 'good-runconfig', { data: { 'runconfig.json': runConfig('overwritten') } }, 'v1', {
        ownerReferences: [owner],
      }),
    ].join('\n---\n'),
  });
  await untilEvent('Deployment forged: NotRunHere: skep dev does not start skep proxy here: no MCPServer');
  const overwritten = await eventually(
    () => read('/api/v1/namespaces/evil/configmaps/good-runconfig'),
    ({ data }) => data['runconfig.json'].includes('overwritten'),
  );
  expect(overwritten.metadata.ownerReferences).toBeUndefined();
  const { items } = await read('/api/v1/namespaces/evil/pods');
  const proxy = items.find(
    (pod: { metadata: { name: string } }) => pod.metadata.name.startsWith('good-') && pod.metadata.name !== 'good-0',
  );
  await api.call({ method: 'DELETE', path: `/api/v1/namespaces/evil/pods/${proxy.metadata.name}`, query: {} });
  await untilWaiting('good-', 'does not belong to MCPServer good: another program wrote it');
  expect(readdirSync(marks)).toEqual([]);
});

// Tests which pods may run skep's own image as a process, and that the process reaches no other files and programs.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Owner } from '#kubernetes/devcluster/controllers/owners.ts';
import type { Container, PodSpec } from '#kubernetes/devcluster/node/objects.ts';
import type { ImageProgram } from '#kubernetes/devcluster/node/ports.ts';
import { ownProgram } from './own-program.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skep-own-program-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Link to the program, as npm creates it. */
const script = join(folder, 'skep');
const options = {
  ...{ origin: 'http://127.0.0.1:1', kubeconfig: join(folder, 'kubeconfig'), apiGroup: 'skep.example' },
  self: [process.execPath, script] as const,
};

function owner(kind: string, apiVersion = 'skep.example/v1'): Owner {
  return { apiVersion, kind, name: 'wiki', uid: `uid-of-${kind}` };
}

const deployment = owner('Deployment', 'apps/v1');
const PROXY = { name: 'c', image: 'skep:1', args: ['proxy', '--config=/etc/runconfig/runconfig.json'] };
const MOUNT = { name: 'v', mountPath: '/etc/runconfig' };
const VOLUME = { name: 'v', configMap: { name: 'c' } };
const proxy: Container = { ...PROXY, volumeMounts: [MOUNT] };
const pod: PodSpec = { containers: [proxy], volumes: [VOLUME] };
const OWNERS = [deployment, owner('MCPServer')];

function find(container: Container, spec: PodSpec = pod, owners: readonly Owner[] = OWNERS) {
  return ownProgram(options, container, spec, owners);
}

function program(): ImageProgram {
  const found = find(proxy);
  if ('absent' in found) throw new Error(found.absent);
  return found;
}

const vmcp = { ...PROXY, args: ['vmcp', '--config=/etc/vmcp-config/config.yaml', '--host=0.0.0.0', '--port=4483'] };
const vmcpMount = [{ name: 'v', mountPath: '/etc/vmcp-config' }];

test.each([
  { role: 'proxy', container: proxy, owners: OWNERS },
  { role: 'vmcp', container: { ...vmcp, volumeMounts: vmcpMount }, owners: [deployment, owner('VirtualMCPServer')] },
  { role: 'sample', container: { ...PROXY, args: ['sample', 'notes', '--folder', '/x'] }, owners: OWNERS },
])('$role runs as its custom resource renders it', ({ container, owners }) => {
  expect(find(container, pod, owners)).not.toHaveProperty('absent');
});

const twice = [...PROXY.args, '--config=/etc/runconfig/runconfig.json'];
test.each([
  { reason: 'no custom resource owns it', owners: [deployment] },
  { reason: 'its owner has the kind, and another group', owners: [deployment, owner('MCPServer', 'other.example/v1')] },
  { reason: 'its owner is another kind', owners: [deployment, owner('MCPRegistry')] },
  { reason: 'a virtual server does not render a proxy', owners: [deployment, owner('VirtualMCPServer')] },
  { reason: 'it sets a command', container: { ...proxy, command: ['/bin/sh'] } },
  { reason: 'its configuration is another file', container: { ...proxy, args: ['proxy', '--config=/etc/passwd'] } },
  { reason: 'it names another file as well', container: { ...proxy, args: [...(proxy.args ?? []), '--config=/x'] } },
  {
    reason: 'it names another file by the short option',
    container: { ...proxy, args: [...(proxy.args ?? []), '-c/x'] },
  },
  { reason: 'it names its file twice', container: { ...proxy, args: twice } },
  { reason: 'it validates a file', container: { ...proxy, args: ['vmcp', 'validate', '--config=/x'] } },
  { reason: 'it is another role', container: { ...proxy, args: ['run', '-c', '/x'] } },
  { reason: 'it calls', container: { ...proxy, args: ['call', 'http://127.0.0.1'] } },
  { reason: 'it is a nested skep dev', container: { ...proxy, args: ['dev'] } },
  { reason: 'it is not a role at all', container: { ...proxy, args: ['constructor'] } },
  { reason: 'a Secret is its configuration', spec: { ...pod, volumes: [{ name: 'v', secret: { secretName: 's' } }] } },
  { reason: 'an empty folder is its configuration', spec: { ...pod, volumes: [{ name: 'v', emptyDir: {} }] } },
  {
    reason: 'another key is its configuration',
    spec: { ...pod, volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'x', path: 'runconfig.json' }] } }] },
  },
  {
    reason: 'a part of a volume is its configuration',
    container: { ...proxy, volumeMounts: [{ ...MOUNT, subPath: 'x' }] },
  },
  {
    reason: 'something else is mounted over its configuration',
    container: {
      ...proxy,
      volumeMounts: [MOUNT, { name: 'w', mountPath: '/etc/runconfig/runconfig.json', subPath: 'x' }],
    },
  },
])('it does not run if $reason', ({ container = proxy, spec = pod, owners = OWNERS }) => {
  expect(find(container, spec, owners)).toHaveProperty('absent');
});

const place = {
  ...{ pod: { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: pod }, owners: OWNERS },
  addresses: { port: (port: number) => port, service: async () => 1, apiServer: () => 'https://127.0.0.1:1' },
};

test('a configuration that another program wrote is refused, and also a configuration that names a process', async () => {
  const { adaptFile } = program();
  const adapt = (file: string, text: string, fileOwners: readonly Owner[]) =>
    adaptFile?.(file, text, { ...place, fileOwners });
  const words = 'does not belong to MCPServer wiki: another program wrote it';
  for (const file of ['runconfig.json', 'config.yaml']) {
    await expect(adapt(file, '{}', [])).rejects.toThrow(words);
    await expect(adapt(file, '{}', [{ ...owner('MCPServer'), uid: 'another' }])).rejects.toThrow(words);
  }
  const process = { process: { command: ['/bin/sh'] } };
  await expect(adapt('runconfig.json', JSON.stringify(process), [owner('MCPServer')])).rejects.toThrow(
    'runconfig.json names a process to start, and skep dev starts no program that a commit names',
  );
  expect(await adapt('authz.json', '{}', [])).toBe('{}');
});

const TRIES = `
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
const [, , inside, outside] = process.argv;
const attempt = (action) => { try { action(); return 'done'; } catch (error) { return error.code; } };
console.log(JSON.stringify([
  attempt(() => readFileSync(inside)), attempt(() => writeFileSync(inside, 'x')),
  attempt(() => readFileSync(outside)), attempt(() => writeFileSync(outside, 'x')),
  attempt(() => spawnSync('/bin/true')),
]));`;

test('the process can read and write only in the folders of its pod, and cannot start programs', async () => {
  const own = join(folder, 'pod');
  mkdirSync(own);
  writeFileSync(join(own, 'script.mjs'), TRIES);
  symlinkSync(join(own, 'script.mjs'), script);
  writeFileSync(options.kubeconfig, '');
  for (const file of [join(own, 'inside'), join(folder, 'outside')]) writeFileSync(file, 'text');
  const { command } = program();
  if (typeof command !== 'function') throw new Error('its command depends on the folders of its pod');
  const [node, ...words] = await command(async () => undefined, { folders: [own] });
  const printed = execFileSync(node, [...words, join(own, 'inside'), join(folder, 'outside')], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual(['done', 'done', 'ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED']);
});

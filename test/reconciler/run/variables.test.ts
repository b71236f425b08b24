// Variables of a source: from skep.yaml, ConfigMaps and Secrets into a cluster, and nothing of a Secret into anything that is
// printed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { skep } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

const VALUE = 'hunter2-of-the-secret';
const FROM = [
  { kind: 'ConfigMap', name: 'settings' },
  { kind: 'Secret', name: 'secrets' },
];
const SUBSTITUTE = { values: { TEAM: 'wiki' }, from: FROM };

const SERVER = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: \${TEAM}
  namespace: tools
spec:
  image: \${IMAGES:=images.example.com}/wiki:1
  transport: streamable-http
  mcpPort: \${PORT}
  proxyPort: "\${PROXY_PORT:=8080}"
`;
const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: login, namespace: tools}
stringData:
  token: \${TOKEN}
`;
const SCRIPT = `apiVersion: v1
kind: ConfigMap
metadata:
  name: script
  namespace: tools
  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}
data: {run: 'echo \${SHELL}'}
`;

let world: World;
let instance: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  instance = instanceFolder(world);
});

beforeEach(async () => {
  world.fleet.commit({
    'cluster/all.yaml': [NAMESPACE, SERVER, SECRET, SCRIPT].join('---\n'),
    'cluster/more.yaml': '# nothing\n',
  });
  await Promise.all([
    settings({ PORT: '8000' }),
    world.client.apply(
      { apiVersion: 'v1', kind: 'Secret', metadata: named('secrets'), stringData: { TOKEN: VALUE } },
      { force: true },
    ),
  ]);
  configure();
});

afterAll(async () => {
  instance.remove();
  await world.close();
});

function named(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: 'default' };
}

async function settings(data: Readonly<Record<string, string>>): Promise<void> {
  await world.client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named('settings'), data }, { force: true });
}

function configure(substitute: object | undefined = SUBSTITUTE): void {
  const repository = `${world.git.url}/fleet.git`;
  const sources = [{ name: 'fleet', repository, branch: 'main', path: 'cluster', substitute }];
  instance.configure({ sources, apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
}

async function printed(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await instance.run(...args);
  expect(`${stdout}${stderr}`).not.toContain(VALUE);
  expect(`${stdout}${stderr}`).not.toContain(Buffer.from(VALUE).toString('base64'));
  return `${stdout}${stderr}`;
}

async function live(kind: string, name: string) {
  const apiVersion = kind === 'MCPServer' ? 'toolhive.stacklok.dev/v1alpha1' : 'v1';
  return world.client.get({ apiVersion, kind, namespace: 'tools', name });
}

test('values reach the cluster with the types that they have as YAML, and a changed value changes the objects', async () => {
  expect(await printed('plan')).toContain('tools/MCPServer/wiki');
  await printed('sync');
  expect((await live('MCPServer', 'wiki'))?.spec).toMatchObject({
    image: 'images.example.com/wiki:1',
    mcpPort: 8000,
    proxyPort: 8080,
  });
  expect((await live('Secret', 'login'))?.data).toEqual({ token: Buffer.from(VALUE).toString('base64') });
  expect((await live('ConfigMap', 'script'))?.data).toEqual({ run: `echo \${SHELL}` });
  await settings({ PORT: '9000' });
  expect(await printed('plan', '-o', 'json')).toContain('/spec/mcpPort');
  await printed('sync');
  expect((await live('MCPServer', 'wiki'))?.spec).toMatchObject({ mcpPort: 9000 });
});

test('the value of a Secret outside a Secret, and an unknown variable, are refused at their places', async () => {
  await printed('sync');
  world.fleet.commit({
    'cluster/more.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: more, namespace: tools}
data:
  a: \${TOKEN}
  b: x \${NOBODY}
---
apiVersion: v1
kind: Secret
metadata: {name: bad, namespace: tools}
data: {k: '\${TOKEN}!'}
`,
  });
  const text = await printed('sync');
  expect(text).toContain('cluster/more.yaml:5:6: error variable-secret: The value of TOKEN comes from a Secret');
  expect(text).toContain(
    'cluster/more.yaml:6:6: error variable-unknown: The variable NOBODY has no value (looked for in substitute.values of source fleet, ConfigMap/settings, Secret/secrets)',
  );
  expect(text).toMatch(/cluster\/more\.yaml:11:\d+: error /);
  expect(await printed('sync', '-o', 'json')).toContain('variable-secret');
  expect(await live('ConfigMap', 'more')).toBeUndefined();
});

test('if an object with values is missing, nothing of the source is changed or deleted', async () => {
  await printed('sync');
  configure({ from: [{ kind: 'ConfigMap', name: 'nowhere' }] });
  expect(await printed('sync')).toContain(
    'source fleet takes variables from default/ConfigMap/nowhere, which does not exist',
  );
  expect(await live('MCPServer', 'wiki')).toBeDefined();
});

test('a plan by a snapshot has the values of skep.yaml and leaves the others as they are written', async () => {
  const snapshot = join(instance.dir, 'state.json');
  const repository = `${world.git.url}/fleet.git`;
  const sources = [{ name: 'fleet', repository, branch: 'main', path: 'cluster', substitute: SUBSTITUTE }];
  instance.configure({ sources, snapshot: { file: snapshot }, apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
  await printed('sync');
  world.fleet.commit({
    'cluster/more.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "${TEAM}-more", namespace: tools}\n',
  });
  const text = await printed('plan', '--against', snapshot);
  expect(text).toContain('tools/ConfigMap/wiki-more');
  expect(text).toMatch(/1 to create, 0 to update, 0 to delete/);
  expect(text).not.toContain('wait for approval');
});

test('`skep validate` knows the values of skep.yaml, and says what it cannot check', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, 'cluster'));
  writeFileSync(join(folder.path, 'cluster/all.yaml'), [SERVER, SECRET, SCRIPT].join('---\n'));
  async function validated(substitute: object | undefined): Promise<string[]> {
    const sources = [{ name: 'fleet', repository: 'git@h:r', path: 'cluster', substitute }];
    writeFileSync(join(folder.path, 'skep.yaml'), JSON.stringify({ sources }));
    const { stdout } = await skep(['validate', '.', '--no-policies', '-o', 'json'], { cwd: folder.path });
    const { problems }: { problems: { code: string; file: string; line: number; column: number }[] } =
      JSON.parse(stdout);
    return problems.map(({ code, file, line, column }) => `${code} ${file}:${line}:${column}`);
  }
  expect(await validated(SUBSTITUTE)).toEqual(['variables-not-checked cluster/all.yaml:9:12']);
  expect(await validated({ values: { TEAM: 'wiki', PORT: 'many', TOKEN: 'x' } })).toEqual([
    'schema-type cluster/all.yaml:9:12',
    'secret-plaintext cluster/all.yaml:13:7',
  ]);
  folder.remove();
});

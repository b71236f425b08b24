// Tests that a pod reaches only its own folders on this machine. The API server or the node refuses paths and links
// that lead elsewhere, and probes reach declared ports only.

import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLoaderVariable } from '#kubernetes/devcluster/node/environment.ts';
import { isBelow } from '#kubernetes/devcluster/node/volumes.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

const PROGRAM = fileURLToPath(new URL('node-program.mjs', import.meta.url));
const PODS = '/api/v1/namespaces/default/pods';
let cluster: TestCluster;

beforeAll(async () => {
  const find = () => ({ command: [process.execPath, PROGRAM] as const });
  cluster = await startTestCluster({ workloadsReadyAfterMs: 0, node: { find, path: process.env.PATH ?? '' } });
});

afterAll(() => cluster.stop());

interface Reaching {
  readonly mount?: object;
  readonly volume?: object;
  readonly more?: object;
}

function createPod(name: string, { mount, volume = { emptyDir: {} }, more = {} }: Reaching) {
  const volumeMounts = mount === undefined ? [] : [{ name: 'v', mountPath: '/v', ...mount }];
  const volumes = mount === undefined ? [] : [{ name: 'v', ...volume }];
  const env = [{ name: 'PORT', value: '80' }];
  const containers = [{ name: 'main', image: 'any', args: ['serve'], env, volumeMounts, ...more }];
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, volumes } };
  return cluster.send('POST', PODS, { body });
}

async function untilWaiting(name: string): Promise<string> {
  const { body } = await eventually(
    () => cluster.send('GET', `${PODS}/${name}`),
    (answer) => (answer.body.status?.containerStatuses?.[0]?.state.waiting?.message ?? '') !== '',
  );
  return body.status.containerStatuses[0].state.waiting.message;
}

test.each([
  {
    name: 'sub-path',
    mount: { subPath: '../../secrets' },
    volume: {},
    field: 'spec.containers[0].volumeMounts[0].subPath',
  },
  { name: 'absolute', mount: { subPath: '/etc' }, volume: {}, field: 'spec.containers[0].volumeMounts[0].subPath' },
  {
    ...{ name: 'item', mount: {}, field: 'spec.volumes[0].configMap.items[0].path' },
    volume: { configMap: { name: 'c', items: [{ key: 'a', path: '../../a' }] } },
  },
  {
    ...{ name: 'hidden', mount: {}, field: 'spec.volumes[0].projected.sources[0].secret.items[0].path' },
    volume: { projected: { sources: [{ secret: { name: 's', items: [{ key: 'a', path: '..data' }] } }] } },
  },
])('the API server refuses a path that leaves its volume: $name', async ({ name, mount, volume, field }) => {
  const { status, body } = await createPod(name, { mount, volume });
  expect(status).toBe(422);
  expect(body.details.causes.map((cause: { field: string }) => cause.field)).toEqual([field]);
});

test('the API server refuses a key that a kubelet uses itself', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { '..data': 'x' } };
  expect((await cluster.send('POST', '/api/v1/namespaces/default/configmaps', { body })).status).toBe(422);
});

test('a claim whose name leaves the folder of claims is not mounted', async () => {
  expect(
    (await createPod('claim', { mount: {}, volume: { persistentVolumeClaim: { claimName: '../../../x' } } })).status,
  ).toBe(201);
  expect(await untilWaiting('claim')).toBe('../../../x of the volume v is not the name of a claim');
});

test('a link in a claim leads to no other folder', async () => {
  const claims = join(dirname(cluster.kubeconfigPath), 'node', 'claims', 'default');
  mkdirSync(join(claims, 'linked'), { recursive: true });
  symlinkSync('/etc', join(claims, 'linked', 'out'));
  symlinkSync('/etc', join(claims, 'itself'));
  await createPod('sub-link', {
    mount: { subPath: 'out' },
    volume: { persistentVolumeClaim: { claimName: 'linked' } },
  });
  await createPod('link', { mount: {}, volume: { persistentVolumeClaim: { claimName: 'itself' } } });
  for (const name of ['sub-link', 'link']) {
    expect(await untilWaiting(name)).toBe('a link leads from the volume to /etc, which is not mounted');
  }
});

test('a probe that runs a command is not performed, and the container counts as ready', async () => {
  const mark = join(dirname(cluster.kubeconfigPath), 'probed');
  const exec = { exec: { command: ['/bin/sh', '-c', `: > ${mark}`] }, periodSeconds: 1 };
  await createPod('probed', { more: { startupProbe: exec, readinessProbe: exec, livenessProbe: exec } });
  await eventually(
    () => cluster.send('GET', `${PODS}/probed`),
    ({ body }) => body.status?.containerStatuses?.[0]?.ready === true,
  );
  const { body } = await cluster.send('GET', '/api/v1/namespaces/default/events');
  expect(JSON.stringify(body)).toContain('the probe of container main that runs a command is left out');
  expect(existsSync(mark)).toBe(false);
});

test('a probe reaches no port that its container does not declare', async () => {
  const { port } = new URL(cluster.url);
  await createPod('elsewhere', { more: { readinessProbe: { tcpSocket: { port: Number(port) }, periodSeconds: 1 } } });
  await eventually(
    () => cluster.send('GET', `${PODS}/elsewhere`),
    ({ body }) => body.status?.containerStatuses?.[0]?.state.running !== undefined,
  );
  const { body } = await cluster.send('GET', `${PODS}/elsewhere`);
  expect(body.status.containerStatuses[0].ready).toBe(false);
});

test.each(['a', 'a/b', '..a', 'a/..b'])('%s stays below its folder', (path) => expect(isBelow(path)).toBe(true));
test.each(['..', '../a', 'a/../../b', '/a'])('%s does not', (path) => expect(isBelow(path)).toBe(false));

test.each([
  ...[
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'PATH',
    'HOME',
    'BASH_ENV',
    'BASH_FUNC_echo%%',
    'PYTHONPATH',
  ],
  ...[
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'GIT_SSH_COMMAND',
    'npm_config_script_shell',
    'KUBECONFIG',
    'OPENSSL_CONF',
  ],
  ...['UV_PYTHON', 'AWS_CONFIG_FILE', 'a-b'],
  ...['PUPPETEER_EXECUTABLE_PATH', 'PUPPETEER_LAUNCH_OPTIONS', 'PLAYWRIGHT_MCP_EXECUTABLE_PATH', 'CHROME_BIN'],
  ...['JAVA_OPTS', 'MAVEN_OPTS', 'GOAUTH', 'GOCACHEPROG', 'GIT_COMMON_DIR', 'GIT_ALLOW_PROTOCOL', 'PROMPT_COMMAND'],
  ...['RIPGREP_CONFIG_PATH', 'TAR_OPTIONS', 'RSYNC_RSH', 'SVN_SSH', 'DBUS_SESSION_BUS_ADDRESS', 'ODBCSYSINI'],
  ...['PGSERVICEFILE', 'MPLBACKEND', 'QT_PLUGIN_PATH', 'PSModulePath', 'VIMINIT', 'SUDO_ASKPASS', 'GUILE_LOAD_PATH'],
])('the variable %s could load code', (name) => expect(isLoaderVariable(name)).toBe(true));

test.each([
  ...[
    'PORT',
    'MCP_TRANSPORT',
    'GOOGLE_API_KEY',
    'NODE_ENV',
    'PYTHONUNBUFFERED',
    'GITHUB_TOKEN',
    'GIT_TOKEN',
    'HOSTNAME',
  ],
  ...[
    'AWS_REGION',
    'OTEL_RESOURCE_ATTRIBUTES',
    'TOOLHIVE_SECRET_a',
    'DATABASE_URL',
    'RESOURCE',
    'ENVIRONMENT',
    'PATHS',
  ],
  ...['PGHOST', 'PGPASSWORD', 'AZURE_CLIENT_ID', 'CHROME_URL', 'COMMANDS', 'GOOGLE_CLOUD_PROJECT', 'GIT_AUTHOR_NAME'],
])('the variable %s could not', (name) => expect(isLoaderVariable(name)).toBe(false));

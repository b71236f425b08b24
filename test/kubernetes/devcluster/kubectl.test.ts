// Tests the server with a real kubectl: the commands that users type first. The tests are skipped, with a message, if
// there is no kubectl.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

const KUBECTL = process.env.KUBECTL ?? 'kubectl';
const isThere = spawnSync(KUBECTL, ['version', '--client']).status === 0;

if (!isThere) {
  process.stderr.write(
    'kubectl tests skipped: put kubectl on PATH (https://kubernetes.io/docs/tasks/tools/) or name it in KUBECTL\n',
  );
}

describe.skipIf(!isThere)('kubectl', () => {
  let cluster: TestCluster;
  let dir: string;

  beforeAll(async () => {
    cluster = await startTestCluster({ workloadsReadyAfterMs: 100 });
    dir = mkdtempSync(join(tmpdir(), 'kubectl-'));
    writeFileSync(join(dir, 'app.yaml'), APP);
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  interface Ran {
    readonly code: number;
    readonly out: string;
    readonly err: string;
  }

  function kubectl(...args: readonly string[]): Promise<Ran> {
    const common = ['--kubeconfig', cluster.kubeconfigPath, '--cache-dir', join(dir, 'cache')];
    return new Promise((resolve) => {
      execFile(KUBECTL, [...common, ...args], { cwd: dir }, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, out, err });
      });
    });
  }

  test('create token prints a token for the audience, and reports a wrong duration', async () => {
    const created = await kubectl('create', 'token', 'default', '--audience', 'toolhive', '--duration', '20m');
    expect(created).toMatchObject({ code: 0, err: '' });
    const claims = JSON.parse(Buffer.from(created.out.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ aud: ['toolhive'], sub: 'system:serviceaccount:default:default' });
    const short = await kubectl('create', 'token', 'default', '--duration', '1m');
    expect(short.err).toContain('may not specify a duration less than 10 minutes');
  });

  test('apply --server-side, diff, get, describe, wait and delete work', async () => {
    const applied = await kubectl('apply', '--server-side', '-f', 'app.yaml');
    expect([applied.code, applied.out.trim().split('\n')]).toEqual([
      0,
      ['deployment.apps/web serverside-applied', 'service/web serverside-applied'],
    ]);
    expect((await kubectl('wait', '--for=condition=Available', 'deploy/web', '--timeout=10s')).code).toBe(0);
    const rows = (await kubectl('get', 'deployment', 'web')).out.trim().split('\n');
    expect(rows.map((row) => row.split(/ +/).slice(0, 4))).toEqual([
      ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE'],
      ['web', '2/2', '2', '2'],
    ]);
    expect((await kubectl('diff', '--server-side', '-f', 'app.yaml')).code).toBe(0);
    writeFileSync(join(dir, 'app.yaml'), APP.replace('nginx:1', 'nginx:2'));
    const changed = await kubectl('diff', '--server-side', '-f', 'app.yaml');
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('nginx:2');
    const described = await kubectl('describe', 'deployment', 'web');
    expect(described.out).toMatch(/Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable/);
    expect((await kubectl('delete', '-f', 'app.yaml')).code).toBe(0);
    expect((await kubectl('get', 'deployment', 'web')).err).toContain('deployments.apps "web" not found');
  });

  test('a manifest with an unknown field is refused with its path', async () => {
    writeFileSync(join(dir, 'bad.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndatum: {a: b}\n');
    const { code, err } = await kubectl('apply', '-f', 'bad.yaml');
    expect(code).toBe(1);
    expect(err).toContain('unknown field "datum"');
  });

  test('get -w shows changes as they come', async () => {
    const watching = kubectl('get', 'configmap', 'watched', '-w', '--request-timeout=4s', '-o', 'name');
    writeFileSync(join(dir, 'watched.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: watched}\n');
    await kubectl('apply', '--server-side', '-f', 'watched.yaml');
    const early = await watching;
    const late = await kubectl('get', 'configmap', 'watched', '-w', '--request-timeout=1s', '-o', 'name');
    expect(`${early.out}${late.out}`).toContain('configmap/watched');
  });

  test('every kind is discovered with its short names', async () => {
    const { out } = await kubectl('api-resources', '--no-headers');
    expect(out).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(out).toMatch(
      /^customresourcedefinitions +crd,crds +apiextensions.k8s.io\/v1 +false +CustomResourceDefinition$/m,
    );
  });
});

const APP = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx:1, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`;

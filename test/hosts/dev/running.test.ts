// The list of servers that run on this machine: a server is ready if a connection to its Service gets to a pod.

import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { watchRunning } from '#hosts/dev/running.ts';
import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { connect } from '../../harness/api-server.ts';
import { eventually, startTestCluster } from '../../harness/cluster.ts';

const PROGRAM = fileURLToPath(new URL('../../kubernetes/devcluster/node-program.mjs', import.meta.url));
const LABELS = { app: 'all' };

function container(): object {
  return {
    ...{ name: 'main', image: 'images.example.com/all:1', args: ['vmcp'] },
    ports: [{ name: 'http', containerPort: 80 }],
    env: [{ name: 'PORT', value: '80' }],
    readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1 },
  };
}

/** A virtual server: its configuration, its pods and the Service that leads to them. */
function objects(): readonly [path: string, object: object][] {
  const metadata = { name: 'all' };
  const spec = { containers: [container()], volumes: [{ name: 'config', configMap: { name: 'all' } }] };
  const template = { metadata: { labels: LABELS }, spec };
  const config = { name: 'all', backends: [], incomingAuth: { type: 'anonymous' } };
  const data = { [VMCP_CONFIG_FILE]: JSON.stringify(config) };
  const ports = [{ port: 8080, targetPort: 'http' }];
  return [
    ['/api/v1/namespaces/default/configmaps/all', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }],
    [
      '/apis/apps/v1/namespaces/default/deployments/all',
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { selector: { matchLabels: LABELS }, template } },
    ],
    [
      '/api/v1/namespaces/default/services/all',
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: LABELS, ports } },
    ],
  ];
}

test('a server is not ready before its pods are, although its Deployment settled while no program was known for it', async () => {
  let isKnown = false;
  const find: FindProgram = () => (isKnown ? { command: [process.execPath, PROGRAM] } : { absent: '' });
  const path = process.env.PATH ?? '';
  const cluster = await startTestCluster({ workloadsReadyAfterMs: 0, node: { find, path } });
  const client = await connect(cluster.url, { kubeconfig: cluster.kubeconfigPath });
  const { node } = cluster.cluster;
  if (node === undefined) throw new Error('no node was started');
  let time = 0;
  const running = watchRunning({
    ...{ cluster: client, node },
    // Each look comes after the time for which the last one is kept.
    now: () => {
      time += 1000;
      return time;
    },
  });
  const look = async () => (await running()).map(({ name, ready }) => ({ name, ready }));
  try {
    for (const [at, object] of objects()) await cluster.apply(at, object);
    await eventually(
      () => cluster.send('GET', '/apis/apps/v1/namespaces/default/deployments/all'),
      ({ body }) => body.status.readyReplicas === 1,
    );
    isKnown = true;
    expect(await look()).toEqual([{ name: 'all', ready: false }]);
    cluster.cluster.programsChanged();
    await eventually(look, ([server]) => server?.ready === true);
  } finally {
    await client.close();
    await cluster.stop();
  }
});

// Why pods do not start is in the status of what they belong to, once.

import { afterEach, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

const SERVER = `apiVersion: ${API_GROUP}/v1alpha1
kind: MCPServer
metadata: {name: search, namespace: default}
spec:
  image: search:1
  transport: streamable-http
  secrets: [{name: search, key: token}]
`;

let world: World;

afterEach(() => world.close());

async function statusOf(name: string): Promise<unknown> {
  const id = { apiVersion: `${API_GROUP}/v1alpha1`, kind: 'MCPServer', namespace: 'default', name };
  return (await world.client.get(id))?.status;
}

async function stuckPod(deployment: string): Promise<KubeObject> {
  const id = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: deployment };
  const spec = (await world.client.get(id))?.spec;
  const template = isObject(spec) && isObject(spec.template) ? spec.template : {};
  const labels = isObject(template.metadata) ? template.metadata.labels : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${deployment}-1`, namespace: 'default', ...(isObject(labels) ? { labels } : {}) },
    spec: template.spec ?? {},
  } as KubeObject;
}

test('a Secret without the key: the status says so, with one Event', async () => {
  world = await startWorld({ workloadsReadyAfterMs: 600_000 });
  world.fleet.commit({ 'cluster/search.yaml': SERVER });
  await world.run({ waitSeconds: 0 });
  expect(await statusOf('search')).toMatchObject({ phase: 'Pending' });

  const pod = await stuckPod('search');
  await world.client.create(pod);
  const message = `couldn't find key token in Secret default/search`;
  const waiting = { waiting: { reason: 'CreateContainerConfigError', message } };
  const containerStatuses = [
    { name: 'toolhive', image: 'proxy:1', ready: false, restartCount: 0, imageID: '', state: waiting },
  ];
  await world.cluster.apply('/api/v1/namespaces/default/pods/search-1/status', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'search-1', namespace: 'default' },
    status: { containerStatuses },
  });

  await world.run({ waitSeconds: 0 });
  expect(await statusOf('search')).toMatchObject({
    phase: 'Failed',
    message: `MCP server pod failed: Deployment search: pod search-1: container toolhive: CreateContainerConfigError: ${message}`,
  });
  const again = await world.run({ waitSeconds: 0 });
  expect(again.outcomes).toEqual([]);
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/events');
  const events = body.items.filter((event: { reason: string }) => event.reason === 'WorkloadsFailed');
  expect(events).toHaveLength(1);
});

// An MCPWebhookConfig stays while a server names it, and a change of it reaches the pods of the server.

import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

const CONFIGS = '/apis/toolhive.stacklok.dev/v1beta1/namespaces/tools/mcpwebhookconfigs';
const OPTIONS = { waitSeconds: 0, limits: { maxDeletes: 20, maxDeletesPercent: 100 } };
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function config(timeout: string): string {
  return `---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPWebhookConfig
metadata: {name: guards, namespace: tools}
spec:
  validating:
    - {name: guard, url: "https://guard.example.com/", timeout: ${timeout}, hmacSecretRef: {name: signing, key: key}}
`;
}

function server(refers: boolean, name = 'weather'): string {
  const ref = refers ? ', webhookConfigRef: {name: guards}' : '';
  return `---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec: {image: "images.example.com/weather:1.0.0", transport: sse${ref}}
`;
}

async function publish(...documents: readonly string[]) {
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, ...documents].join('') });
  return world.run(OPTIONS);
}

/** Of the Deployment of the proxy: another one means other pods. */
async function podTemplate(): Promise<string> {
  const url = '/apis/apps/v1/namespaces/tools/deployments/weather';
  const { spec } = (await world.cluster.send('GET', url)).body;
  assert(isObject(spec));
  return JSON.stringify(spec.template);
}

async function statusOf(url: string) {
  return (await world.cluster.send('GET', url)).body.status;
}

test('users of an MCPWebhookConfig roll when it changes, and it stays as long as there are users', async () => {
  const secret = { metadata: { name: 'signing', namespace: 'tools' }, data: { key: 'YQ==' } };
  await publish();
  await world.cluster.send('POST', '/api/v1/namespaces/tools/secrets', {
    body: { apiVersion: 'v1', kind: 'Secret', ...secret },
  });
  await publish(config('5s'), server(true));
  await world.run(OPTIONS);
  const before = await podTemplate();
  expect(before).toContain('"signing"');
  expect(await statusOf(`${CONFIGS}/guards`)).toMatchObject({ configHash: expect.stringMatching(/^[0-9a-f]{16}$/) });

  await publish(config('6s'), server(true));
  const changed = await podTemplate();
  expect(changed).not.toBe(before);

  const { plan } = await publish(server(true));
  expect(plan.held.map(({ resource, reason }) => `${formatId(resource)} ${reason}`)).toEqual([
    'tools/MCPWebhookConfig/guards tools/MCPServer/weather still refers to it',
  ]);
  expect(await statusOf(`${CONFIGS}/guards`)).toMatchObject({
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: 'DeletionBlocked', reason: 'StillReferenced' }),
    ]),
  });
  expect(await podTemplate()).toBe(changed);

  await publish(server(false));
  const after = await world.run(OPTIONS);
  expect(after.plan.held).toEqual([]);
  expect((await world.cluster.send('GET', `${CONFIGS}/guards`)).status).toBe(404);
  expect(await podTemplate()).not.toContain('"signing"');
});

test('a server is not made without the webhooks that it names', async () => {
  await publish(server(true, 'fresh'));
  const { status } = await world.cluster.send('GET', '/apis/apps/v1/namespaces/tools/deployments/fresh');
  expect(status).toBe(404);
});

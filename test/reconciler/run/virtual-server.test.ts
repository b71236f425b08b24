// A virtual server over several runs: its secret is made once, and who joins its group starts no new pods.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { textOfPlan, textOfRun } from '#reconciler/report/text.ts';
import type { ApplyOptions } from '#reconciler/run/ports.ts';
import { isObject } from '#std/json.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles, members } from './fleet.ts';

const OFFICE = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: office, namespace: tools}
spec:
  incomingAuth: {type: anonymous}
  config: {groupRef: team}
`;
const OFFICE_ID = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'VirtualMCPServer' };
const SECRET = { apiVersion: 'v1', kind: 'Secret', namespace: 'tools', name: 'office-hmac-secret' };

let world: World;
beforeAll(async () => {
  world = await startWorld();
  world.fleet.commit({ ...fleetFiles({ clock: '1.0.0' }), 'cluster/office.yaml': OFFICE });
});
afterAll(() => world.close());

async function value(): Promise<string> {
  const data = (await world.client.get(SECRET))?.data;
  return isObject(data) ? String(data['hmac-secret']) : '';
}

function bytesOf(stored: string): number {
  return Buffer.from(Buffer.from(stored, 'base64').toString(), 'base64').length;
}

async function living(id: string): Promise<KubeObject | undefined> {
  return (await members(world.client, 'test')).get(id);
}

test('its secret is made by the first run and kept by every other', async () => {
  const planned = textOfPlan(await world.plan());
  const first = await world.run();
  const made = await value();
  expect(bytesOf(made)).toBe(32);
  expect(`${planned}${textOfRun(first)}`).not.toContain(made);

  const { plan, outcomes } = await world.run();
  expect([plan.batches, outcomes]).toEqual([[], []]);
  expect(await value()).toBe(made);
});

test('a secret that somebody emptied is made anew, and nobody is told what it is', async () => {
  const before = await value();
  const path = '/api/v1/namespaces/tools/secrets/office-hmac-secret';
  const body = { data: { 'hmac-secret': '' } };
  const { status } = await world.cluster.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  expect(status).toBe(200);
  const planned = textOfPlan(await world.plan());
  expect(planned).toContain('tools/Secret/office-hmac-secret');
  const result = await world.run();
  expect(bytesOf(await value())).toBe(32);
  expect(await value()).not.toBe(before);
  expect(`${planned}${textOfRun(result)}`).not.toContain(await value());
});

test('a server that joins the group is told, and starts no new pods', async () => {
  const before = await living('tools/Deployment/office');
  world.fleet.commit(fleetFiles({ clock: '1.0.0', weather: '1.0.0' }));
  await world.run();
  const after = await living('tools/Deployment/office');
  expect(after?.metadata.generation).toBe(before?.metadata.generation);
  const config = (await living('tools/ConfigMap/office-vmcp-config'))?.data;
  expect(isObject(config) ? config['config.yaml'] : '').toContain('name: weather');
  expect((await living('tools/VirtualMCPServer/office'))?.status).toMatchObject({ phase: 'Ready', backendCount: 2 });
});

/** As the virtual server reports its backends. */
async function reportUnavailable(): Promise<void> {
  const status = (await living('tools/VirtualMCPServer/office'))?.status;
  const backends = isObject(status) && Array.isArray(status.discoveredBackends) ? status.discoveredBackends : [];
  const { status: code } = await world.cluster.send(
    'PATCH',
    '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/virtualmcpservers/office/status?fieldManager=skep-vmcp&force=true',
    {
      body: {
        ...OFFICE_ID,
        metadata: { name: 'office', namespace: 'tools' },
        status: {
          discoveredBackends: backends.filter(isObject).map(({ name }) => ({
            name,
            status: 'unavailable',
            lastHealthCheck: '2026-01-01T00:00:00Z',
          })),
        },
      },
      contentType: 'application/apply-patch+yaml',
    },
  );
  expect(code).toBe(200);
}

test('a health report that comes between reading and writing a status counts', async () => {
  world.fleet.commit({ 'cluster/office.yaml': OFFICE.replace('anonymous}', 'anonymous}\n  serviceType: NodePort') });
  let reported = false;
  const cluster = {
    ...world.client,
    async apply(object: KubeObject, options: ApplyOptions) {
      if (object.kind === 'VirtualMCPServer' && options.subresource === 'status' && !reported) {
        reported = true;
        await reportUnavailable();
      }
      return world.client.apply(object, options);
    },
  };
  await world.run({ cluster });
  await world.run();
  const status = (await living('tools/VirtualMCPServer/office'))?.status;
  expect([reported, status]).toMatchObject([
    true,
    { phase: 'Degraded', discoveredBackends: [{ status: 'unavailable' }, { status: 'unavailable' }] },
  ]);
});

// A fleet that another operator keeps is taken over: what it made is found by its names and labels, changes hands, and
// the next runs treat it as their own. Longer than most: one fleet, from the dry run to the run after a conflict.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { textOfAdoption } from '#reconciler/report/adoption.ts';
import { textOfOutcome } from '#reconciler/report/text.ts';
import { resume, suspend } from '#reconciler/run/records/suspension.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

const OPERATOR = 'thv-operator';
const FINALIZER = 'mcpserver.toolhive.stacklok.dev/finalizer';
const SERVER = {
  apiVersion: `${API_GROUP}/v1alpha1`,
  kind: 'MCPServer',
  metadata: { name: 'wiki', namespace: 'default' },
  spec: { image: 'images.example.com/wiki:1', transport: 'streamable-http' },
};
const BASE = { app: 'mcpserver', 'app.kubernetes.io/name': 'mcpserver', 'app.kubernetes.io/instance': 'wiki' };
const PROXY = { ...BASE, toolhive: 'true', 'toolhive-name': 'wiki' };
const BACKEND = { app: 'wiki', toolhive: 'true', 'toolhive-name': 'wiki', 'toolhive-basename': 'wiki' };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function send(method: string, path: string, manager: string, body: unknown): Promise<KubeObject> {
  const answer = await world.cluster.send(method, `${path}?fieldManager=${manager}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as KubeObject;
}

const servers = `/apis/${API_GROUP}/v1alpha1/namespaces/default/mcpservers`;
const apps = '/apis/apps/v1/namespaces/default';
const core = '/api/v1/namespaces/default';

/** As the existing operator and its proxy runner leave them. */
async function existingFleet(): Promise<void> {
  const created = await send('POST', servers, 'kubectl-create', SERVER);
  const { metadata } = created;
  const server = await send('PUT', `${servers}/wiki`, OPERATOR, {
    ...created,
    metadata: { ...metadata, finalizers: [FINALIZER, 'example.com/backup'] },
  });
  const owned = (name: string, labels: object = PROXY) => ({
    name,
    labels,
    ownerReferences: [reference(server)],
  });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: owned('wiki'),
    spec: {
      replicas: 3,
      selector: { matchLabels: PROXY },
      // As the server has completed it, and as every update of the operator sends it back.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      template: {
        metadata: { labels: PROXY },
        spec: {
          containers: [{ name: 'toolhive', image: 'runner:1', env: [{ name: 'OLD', value: 'yes' }] }],
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
        },
      },
    },
  };
  await send('POST', `${apps}/deployments`, OPERATOR, deployment);
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: owned('wiki-of-old'), data: {} };
  await send('POST', `${core}/configmaps`, OPERATOR, config);
  const set = await send('POST', `${apps}/statefulsets`, 'toolhive-container-manager', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'wiki', labels: BACKEND },
    spec: {
      replicas: 2,
      serviceName: 'wiki',
      selector: { matchLabels: { app: 'wiki' } },
      template: {
        metadata: { labels: BACKEND },
        spec: { containers: [{ name: 'mcp', image: 'images.example.com/wiki:1' }] },
      },
    },
  });
  for (const name of ['mcp-wiki', 'mcp-wiki-headless']) {
    await send('POST', `${core}/services`, 'toolhive-container-manager', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels: BACKEND, ownerReferences: [reference(set)] },
      spec: { selector: { app: 'wiki' }, ports: [{ name: 'port-8080', port: 8080 }] },
    });
  }
}

function reference({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject) {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function lease(renewTime: string) {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'toolhive-operator-leader-election', namespace: 'default' },
    spec: { holderIdentity: 'operator-0', leaseDurationSeconds: 15, renewTime },
  };
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

test('without --yes it is only shown', async () => {
  await existingFleet();
  world.fleet.commit({ 'cluster/wiki.yaml': JSON.stringify(SERVER) });
  const before = await world.client.get({ ...SERVER, ...SERVER.metadata });
  const shown = await world.adopt(false);
  expect(textOfAdoption(shown, INSTALLED)).toMatchInlineSnapshot(`
    "default/MCPServer/wiki: remove finalizer mcpserver.toolhive.stacklok.dev/finalizer; take over the fields of kubectl-create, thv-operator
    default/ConfigMap/wiki-of-old: take over the fields of thv-operator; skep creates no such object: the next run deletes it, within the limits on deletions
    default/Deployment/wiki: take over the fields of thv-operator
    default/Service/mcp-wiki: set MCPServer wiki as owner; take over the fields of toolhive-container-manager
    default/Service/mcp-wiki-headless: set MCPServer wiki as owner; take over the fields of toolhive-container-manager
    default/StatefulSet/wiki: set MCPServer wiki as owner; take over the fields of toolhive-container-manager
    6 objects to take over, nothing is deleted or restarted by that; to do it: skep adopt --yes
    "
  `);
  expect(await world.client.get({ ...SERVER, ...SERVER.metadata })).toEqual(before);
});

test('while the existing operator runs nothing is taken from it', async () => {
  const running = await send('POST', leases, OPERATOR, lease(new Date().toISOString().replace('Z', '000Z')));
  await expect(world.adopt(true)).rejects.toMatchObject({ code: 'adopt-operator-running' });
  // It watches all namespaces, whichever of them this instance may touch.
  await expect(world.adopt(true, { namespaces: ['team-a'] })).rejects.toMatchObject({ code: 'adopt-operator-running' });
  const { renewTime: _renewed, ...spec } = lease('').spec;
  const stopped = { ...running, spec: { ...spec, renewTime: '2020-01-01T00:00:00.000000Z' } };
  await send('PUT', `${leases}/toolhive-operator-leader-election`, OPERATOR, stopped);
});

test('while the instance is suspended nothing is taken over', async () => {
  const home = { instance: 'test', homeNamespace: 'default' };
  await suspend({ cluster: world.client, clock: systemClock }, home, { who: 'ada', reason: 'looking first' });
  await expect(world.adopt(true)).rejects.toMatchObject({ code: 'suspended' });
  expect((await world.adopt(false)).adoptions.length).toBeGreaterThan(0);
  await resume({ cluster: world.client }, home);
});

/** A controller is faster at the first write to the StatefulSet. */
function contendedClient(): World['client'] {
  let late = true;
  return {
    ...world.client,
    async replace(object) {
      if (late && object.kind === 'StatefulSet') {
        late = false;
        const path = `${apps}/statefulsets/wiki`;
        const live = await world.client.get(idIn('apps/v1', 'StatefulSet', 'wiki'));
        await send('PUT', path, 'kubectl-edit', {
          ...live,
          metadata: { ...live?.metadata, annotations: { seen: 'yes' } },
        });
      }
      return world.client.replace(object);
    },
  };
}

test('taking over restarts nothing, and what is written at the same moment is taken over all the same', async () => {
  const before = await world.client.get(idIn('apps/v1', 'Deployment', 'wiki'));
  const { failures, refused } = await world.adopt(true, { cluster: contendedClient() });
  expect({ failures, refused }).toEqual({ failures: [], refused: [] });
  const after = await world.client.get(idIn('apps/v1', 'Deployment', 'wiki'));
  expect(after?.spec).toEqual(before?.spec);
  expect(after?.metadata.generation).toBe(before?.metadata.generation);
  const server = await world.client.get({ ...SERVER, ...SERVER.metadata });
  expect(server?.metadata.finalizers).toEqual(['example.com/backup']);
  expect((await world.adopt(false)).adoptions).toEqual([]);
});

test('the next run makes the fleet what Git says, conflicts with nobody, and leaves numbers of replicas alone', async () => {
  const { outcomes, problems, plan } = await world.run({ conflicts: 'report' });
  expect(problems).toEqual([]);
  expect(plan.held).toEqual([]);
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const change = changes.find(({ resource }) => resource.kind === 'Deployment' && resource.name === 'wiki');
  const paths = change === undefined || change.action === 'delete' ? [] : change.diff;
  const removed = paths.filter(({ after }) => after === undefined).map(({ path }) => path);
  // What the server completes is set again.
  expect(removed.filter((path) => /strategy|terminationGracePeriodSeconds|dnsPolicy/.test(path))).toEqual([]);
  expect(removed).not.toEqual([]);
  expect(outcomes.filter(({ action }) => action === 'failed').map(textOfOutcome)).toEqual([]);
  expect(outcomes.map(textOfOutcome)).toContain('default/ConfigMap/wiki-of-old deleted');
  const deployment = await world.client.get(idIn('apps/v1', 'Deployment', 'wiki'));
  expect(deployment?.spec).toMatchObject({ replicas: 3 });
  expect(JSON.stringify(deployment)).not.toContain('OLD');
  const set = await world.client.get(idIn('apps/v1', 'StatefulSet', 'wiki'));
  expect(set?.metadata.ownerReferences).toMatchObject([{ kind: 'MCPServer', name: 'wiki' }]);
  expect(set?.spec).toMatchObject({ replicas: 2 });
});

test('and the run after it finds nothing to do', async () => {
  const { outcomes } = await world.run({ conflicts: 'report' });
  expect(outcomes.map(textOfOutcome)).toEqual([]);
});

test('of Secrets and ConfigMaps only what is taken over is read, and it is stored as it was', async () => {
  const owner = await world.client.get({ ...SERVER, ...SERVER.metadata });
  if (owner === undefined) throw new Error('the server is not there');
  const large = { apiVersion: 'v1', kind: 'ConfigMap', data: { text: 'x'.repeat(10_000), key: 'value' } };
  await send('POST', `${core}/configmaps`, OPERATOR, {
    ...large,
    metadata: {
      name: 'wiki-more',
      labels: PROXY,
      ownerReferences: [reference(owner)],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
  });
  await send('POST', `${core}/configmaps`, 'other', { ...large, metadata: { name: 'foreign-settings' } });
  await send('POST', `${core}/secrets`, 'other', {
    ...large,
    kind: 'Secret',
    metadata: { name: 'foreign' },
    data: { token: 'eA==' },
  });
  const { list, get } = world.client;
  const read: KubeObject[] = [];
  world.client.list = async (...asked) => {
    const objects = await list(...asked);
    read.push(...objects);
    return objects;
  };
  world.client.get = async (...asked) => {
    const object = await get(...asked);
    if (object !== undefined) read.push(object);
    return object;
  };
  const { adoptions, failures } = await world.adopt(true);
  Object.assign(world.client, { list, get });
  expect([adoptions.map(({ resource }) => resource.name), failures]).toEqual([['wiki-more'], []]);
  const withContents = read.filter(({ data, metadata: { name } }) => data !== undefined && !name.startsWith('skep-'));
  const names = new Set(withContents.map(({ metadata }) => metadata.name));
  expect([names.has('wiki-more'), names.has('foreign-settings'), names.has('foreign')]).toEqual([true, false, false]);
  const after = await world.client.get({ ...large, namespace: 'default', name: 'wiki-more' });
  expect(after?.data).toEqual(large.data);
  expect(after?.metadata.annotations).toMatchObject({ 'kubectl.kubernetes.io/last-applied-configuration': '{}' });
  expect(after?.metadata.labels).toMatchObject({ 'skep.dev/owner': 'mcpserver.wiki' });
});

test('what only has the name is not taken', async () => {
  const stranger = { ...SERVER, metadata: { name: 'notes', namespace: 'default' } };
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'notes-runconfig' }, data: { mine: 'yes' } };
  await send('POST', `${core}/configmaps`, 'somebody', config);
  world.fleet.commit({ 'cluster/notes.yaml': JSON.stringify(stranger) });
  const { adoptions, problems } = await world.adopt(true);
  expect(adoptions).toEqual([]);
  expect(problems.map(({ code }) => code)).toEqual(['child-foreign']);
});

test('no deletion is foretold for objects of a server that is kept unchanged', async () => {
  const manifest = {
    ...SERVER,
    metadata: { name: 'held', namespace: 'default' },
    spec: { ...SERVER.spec, externalAuthConfigRef: { name: 'absent' } },
  };
  const server = await send('POST', servers, 'kubectl-create', manifest);
  const metadata = { name: 'held-runconfig', ownerReferences: [reference(server)] };
  await send('POST', `${core}/configmaps`, 'skep-old', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
  world.fleet.commit({ 'cluster/held.yaml': JSON.stringify(manifest) });
  const found = await world.adopt(false);
  expect(found.otherInstances).toEqual(['old']);
  expect(found.adoptions.map(({ resource, surplus, undecided }) => [resource.name, surplus, undecided])).toContainEqual(
    ['held-runconfig', false, true],
  );
  expect(textOfAdoption(found, INSTALLED)).toContain(
    'default/ConfigMap/held-runconfig: take over the fields of skep-old; its owner is kept unchanged: whether skep creates such an object is known once that is fixed\n',
  );
});

function idIn(apiVersion: string, kind: string, name: string) {
  return { apiVersion, kind, namespace: 'default', name };
}

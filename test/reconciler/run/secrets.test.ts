// Pods follow the Secrets that they read, and what stands for a Secret's content in them tells nothing of it: the digest
// is keyed, and the key is made once, by the first run that needs it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { NO_DIGEST, openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

const CHECKSUM = 'toolhive.stacklok.dev/secrets-checksum';

const SERVER = `apiVersion: v1
kind: Namespace
metadata: {name: tools}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock, namespace: tools}
spec:
  image: images.example.com/clock:1.0.0
`;

const WITH_SECRET = `${SERVER}  secrets:
    - {name: clock-api, key: token, targetEnvName: TOKEN}
`;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function read(path: string): Promise<KubeObject | undefined> {
  const { status, body } = await world.cluster.send('GET', path);
  return status === 200 ? body : undefined;
}

function key(): Promise<KubeObject | undefined> {
  return read('/api/v1/namespaces/default/secrets/skep-test');
}

function did({ outcomes }: RunResult): string[] {
  return outcomes.map(({ action, resource }) => `${formatId(resource)} ${action}`).sort();
}

async function checksum(): Promise<unknown> {
  const spec = (await read('/apis/apps/v1/namespaces/tools/statefulsets/clock'))?.spec;
  const template = isObject(spec) && isObject(spec.template) ? spec.template : {};
  const metadata = isObject(template.metadata) ? template.metadata : {};
  return isObject(metadata.annotations) ? metadata.annotations[CHECKSUM] : undefined;
}

async function writeToken(token: string): Promise<void> {
  const metadata = { name: 'clock-api', namespace: 'tools' };
  await world.client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token } }, { force: true });
}

test('without a Secret to follow there is no key', async () => {
  world.fleet.commit({ 'cluster/clock.yaml': SERVER });
  expect(exitCodeOf(await world.run())).toBe(0);
  expect(await key()).toBeUndefined();
  expect(await checksum()).toBeUndefined();
});

test('a plan makes no key, and says the same each time', async () => {
  await writeToken('correct horse');
  world.fleet.commit({ 'cluster/clock.yaml': WITH_SECRET });
  const [first, second] = [await world.plan(), await world.plan()];
  expect(JSON.stringify(first.plan)).toContain(NO_DIGEST);
  expect(first.plan).toEqual(second.plan);
  expect(await key()).toBeUndefined();
});

test('the run makes the key first, and then the next has nothing to do', async () => {
  expect(did(await world.run())).toEqual(['tools/MCPServer/clock configured', 'tools/StatefulSet/clock configured']);
  expect(await checksum()).toMatch(/^[0-9a-f]{64}$/);
  expect(await key()).toBeDefined();
  expect(did(await world.run())).toEqual([]);
  expect((await world.plan()).plan.batches).toEqual([]);
});

test('another content starts new pods, and only those that read it', async () => {
  const before = await checksum();
  await writeToken('battery staple');
  expect(did(await world.run())).toEqual(['tools/StatefulSet/clock configured']);
  expect(await checksum()).not.toBe(before);
  await writeToken('correct horse');
  await world.run();
  expect(await checksum()).toBe(before);
});

describe('a key that only saves time', () => {
  /** As of a process that has found none. */
  let saved = 0;
  const sound = {
    open: async () => ({ find: () => undefined, add: () => undefined }),
    lacksKey: () => true,
    save: () => {
      saved += 1;
    },
  };

  function publish(version: string): void {
    world.fleet.commit({ 'cluster/clock.yaml': SERVER.replace('1.0.0', version) });
  }

  test.each(['cluster-forbidden', 'cluster-invalid', 'cluster-error'])(
    'that cannot be made (%s) ends no run',
    async (code) => {
      let asked = 0;
      const refused = async () => {
        asked += 1;
        throw new Failure(code, 'an admission webhook says no');
      };
      publish(`1.0.${asked}-${code}`);
      const result = await world.run({
        sound,
        digestKey: { known: () => undefined, find: async () => undefined, make: refused },
      });
      expect(exitCodeOf(result)).toBe(0);
      expect(did(result)).toContain('tools/MCPServer/clock configured');
      expect(asked).toBe(1);
    },
  );

  test('is looked for again under the lock, and never made a second time', async () => {
    const before = await key();
    publish('3.0.0');
    const digestKey = openDigestKey(world.client, 'test', 'default');
    saved = 0;
    expect(exitCodeOf(await world.run({ sound, digestKey }))).toBe(0);
    expect((await key())?.data).toEqual(before?.data);
    expect(digestKey.known()).toBeDefined();
    expect(saved).toBe(1);
  });
});

test('a kind that comes in the same run as its objects has digests from the start', async () => {
  const kind = KINDS.find((each) => each.kind === 'MCPServer');
  if (kind === undefined) throw new Error('MCPServer is one of our kinds');
  const definition = crd(kind, API_GROUP);
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  await world.close();
  world = await startWorld();
  await world.cluster.send('DELETE', path);
  await eventually(
    () => world.cluster.send('GET', path),
    ({ status }) => status === 404,
  );
  await world.cluster.apply('/api/v1/namespaces/tools', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'tools' },
  });
  await writeToken('correct horse');
  world.fleet.commit({ 'cluster/kind.json': JSON.stringify(definition), 'cluster/clock.yaml': WITH_SECRET });
  expect(did(await world.run())).toContain('tools/StatefulSet/clock created');
  expect(await checksum()).toMatch(/^[0-9a-f]{64}$/);
  expect(did(await world.run())).toEqual([]);
});

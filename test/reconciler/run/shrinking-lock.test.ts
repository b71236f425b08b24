// A lock that becomes smaller, from four ConfigMaps to two, to none, and to no lock: after each write of a run, a pod that starts has the
// earlier lock, the later lock, or does not start. ConfigMaps are deleted only after nothing that was applied names them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { RUN_CONFIG_FILE } from '#contracts/run-config.ts';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { SHARD_FILE } from '#contracts/tool-lock/shards.ts';
import { readProxyConfig } from '#hosts/proxy/config.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunDeps } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { isObject, objectsIn } from '#std/json.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const LIMITS = { limits: { maxDeletes: 20, maxDeletesPercent: 100 } };

const toolsOf = (count: number, title: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `${'n'.repeat(100)}${index}`, title }));

const lockOf = (count: number, title: string): HeldLock =>
  heldLock('enforce', { server: { kind: 'MCPServer' }, tools: toolsOf(count, title) });

function commit(count: number, title: string, mode = 'enforce'): void {
  world.fleet.commit({
    'cluster/base.yaml': NAMESPACE,
    'cluster/wiki.yaml': `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: wiki, namespace: tools, annotations: {skep.dev/tools-lock: "${mode}"}}
spec: {image: "example.com/wiki:1", transport: streamable-http}
---
apiVersion: skep.dev/v1
kind: ToolLock
metadata: {name: wiki, namespace: tools}
spec: {server: {kind: MCPServer, image: "example.com/wiki:1"}, tools: ${JSON.stringify(toolsOf(count, title))}}
`,
  });
}

const idOf = (kind: string, name: string, apiVersion = 'v1') => ({ apiVersion, kind, namespace: 'tools', name });

async function partNames(): Promise<readonly string[]> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/tools/configmaps');
  const names: string[] = body.items.map(({ metadata }: KubeObject) => metadata.name);
  return names.filter((name) => name.includes('-tools-lock-'));
}

interface Mount {
  readonly directory: string;
  readonly configMap: string;
}

/** Volumes of the pods that the Deployment creates. */
async function mountsNow(): Promise<readonly Mount[]> {
  const deployment = await world.client.get(idOf('Deployment', 'wiki', 'apps/v1'));
  const spec: Record<string, unknown> = Object(deployment?.spec);
  const pod: Record<string, unknown> = Object(Object(spec.template).spec);
  const mounts = objectsIn(Object(objectsIn(pod.containers as never)[0]).volumeMounts);
  return objectsIn(pod.volumes as never).flatMap(({ name, configMap }) => {
    const directory = mounts.find((each) => each.name === name)?.mountPath;
    return isObject(configMap) ? [{ directory: String(directory), configMap: String(configMap.name) }] : [];
  });
}

/** The lock of a proxy whose pod starts now with these mounts: undefined if the pod, or the proxy, does not start. */
async function lockAtStart(mounts: readonly Mount[]): Promise<RunConfig['tools_lock'] | undefined | 'no lock'> {
  const contents = new Map<string, string>();
  for (const { directory, configMap } of mounts) {
    const found = await world.client.get(idOf('ConfigMap', configMap));
    // A pod waits for a ConfigMap that is missing.
    if (found === undefined) return undefined;
    for (const file of [RUN_CONFIG_FILE, SHARD_FILE]) {
      const text = isObject(found.data) ? found.data[file] : undefined;
      if (typeof text === 'string') contents.set(`${directory}/${file}`, text);
    }
  }
  function read(path: string): string {
    const text = contents.get(path);
    if (text === undefined) throw new Failure('secret-file-unreadable', path);
    return text;
  }
  const config = [...contents.keys()].find((path) => path.endsWith(RUN_CONFIG_FILE)) ?? '';
  try {
    const { tools_lock: lock } = readProxyConfig({ ...createWatchedFiles(), read, readSettings: read }, config).config;
    if (lock === undefined) return 'no lock';
    const { report_to: _place, ...held } = lock;
    return held;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

type Start = 'earlier' | 'later' | 'none' | 'another';

function nameOf(found: Awaited<ReturnType<typeof lockAtStart>>, earlier: unknown, later: unknown): Start {
  if (found === undefined) return 'none';
  const text = JSON.stringify(found);
  if (text === JSON.stringify(later)) return 'later';
  return text === JSON.stringify(earlier) ? 'earlier' : 'another';
}

interface Step {
  readonly write: string;
  readonly earlierPod: Start;
  readonly laterPod: Start;
}

/** A write that the server refuses: when it is previewed, or only when it is made. */
interface Refused {
  readonly object: string;
  readonly when: 'preview' | 'write';
}

/** A client that looks after each write at what pods of the Deployment before the run, and of the Deployment now, would start with. */
async function watching(earlier: unknown, later: unknown, refused?: Refused) {
  const steps: Step[] = [];
  const before = await mountsNow();
  async function look(write: string): Promise<void> {
    const [old, now] = [await lockAtStart(before), await lockAtStart(await mountsNow())];
    steps.push({ write, earlierPod: nameOf(old, earlier, later), laterPod: nameOf(now, earlier, later) });
  }
  // Writes come one after the other, so that each of them is looked after.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }
  const cluster: RunDeps['cluster'] = {
    ...world.client,
    apply: (object, options) =>
      inTurn(async () => {
        const name = `${object.kind} ${object.metadata.name}`;
        const isPreview = options?.dryRun === true;
        if (name === refused?.object && (!isPreview || refused.when === 'preview'))
          throw new Failure('cluster-forbidden', 'refused by the test');
        const applied = await world.client.apply(object, options);
        if (!isPreview) await look(`apply ${name}`);
        return applied;
      }),
    remove: (id, options) =>
      inTurn(async () => {
        const removed = await world.client.remove(id, options);
        await look(`delete ${id.kind} ${id.name}`);
        return removed;
      }),
  };
  return { cluster, steps };
}

const PARTS = [1, 2, 3, 4].map((part) => `wiki-tools-lock-${part}`);
const [LARGE, HALF, SMALL] = [lockOf(15_620, 'large'), lockOf(8000, 'half'), lockOf(10, 'small')];

test('a lock in four parts', async () => {
  commit(15_620, 'large');
  expect((await world.run(LIMITS)).problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(await partNames()).toEqual(PARTS);
  expect(await lockAtStart(await mountsNow())).toEqual(LARGE);
});

test.each([
  { object: 'ConfigMap wiki-runconfig', when: 'preview' },
  { object: 'ConfigMap wiki-runconfig', when: 'write' },
  { object: 'Deployment wiki', when: 'preview' },
  { object: 'Deployment wiki', when: 'write' },
] as const)('deletes no part if $object cannot be applied, as the $when says', async (refused) => {
  commit(10, 'small');
  const { cluster, steps } = await watching(LARGE, SMALL, refused);
  const { outcomes } = await world.run({ ...LIMITS, cluster });
  expect(
    outcomes.filter(({ action }) => action === 'failed').map(({ resource }) => `${resource.kind} ${resource.name}`),
  ).toEqual([refused.object]);
  expect(steps.filter(({ write }) => write.startsWith('delete'))).toEqual([]);
  expect(await partNames()).toEqual(PARTS);
  expect(new Set(steps.flatMap(({ earlierPod, laterPod }) => [earlierPod, laterPod]))).not.toContain('another');
  commit(15_620, 'large');
  await world.run(LIMITS);
  expect(await lockAtStart(await mountsNow())).toEqual(LARGE);
});

test.each([
  { to: 'two parts', earlier: LARGE, later: HALF, change: () => commit(8000, 'half'), left: PARTS.slice(0, 2) },
  { to: 'none but the configuration', earlier: HALF, later: SMALL, change: () => commit(10, 'small'), left: [] },
  { to: 'no lock', earlier: SMALL, later: 'no lock', change: () => commit(10, 'small', 'off'), left: [] },
])(
  'to $to: each pod that starts has one of the two locks, or does not start',
  async ({ earlier, later, change, left }) => {
    change();
    const parts = await partNames();
    const { cluster, steps } = await watching(earlier, later);
    await world.run({ ...LIMITS, cluster });
    const starts = steps.flatMap(({ earlierPod, laterPod }) => [earlierPod, laterPod]);
    expect(starts).not.toContain('another');
    const isDeletion = ({ write }: Step) => write.startsWith('delete ConfigMap wiki-tools-lock-');
    const firstDeletion = steps.findIndex(isDeletion);
    expect(steps.filter(isDeletion).length).toBe(parts.length - left.length);
    // From the first deletion on, pods of the new Deployment have the later lock.
    if (firstDeletion >= 0) {
      expect(steps.slice(firstDeletion - 1).map(({ laterPod }) => laterPod)).not.toContain('none');
      expect(steps[firstDeletion - 1]?.laterPod).toBe('later');
    }
    expect(await partNames()).toEqual(left);
    expect(nameOf(await lockAtStart(await mountsNow()), earlier, later)).toBe('later');
  },
);

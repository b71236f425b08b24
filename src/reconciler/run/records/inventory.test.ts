// Tests the inventory of an instance in ConfigMaps: its capacity, its growth, and damaged lines.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { type InventoryEntry, readInventory, storeInventory } from './inventory.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };

/** Returns a cluster with ConfigMaps by name. It records the names in the order of writing. */
function store() {
  const kept = new Map<string, KubeObject>();
  const written: string[] = [];
  const put = async (object: KubeObject): Promise<KubeObject> => {
    kept.set(object.metadata.name, object);
    written.push(object.metadata.name);
    return object;
  };
  return {
    kept,
    written,
    get: async ({ name }: { readonly name: string }) => kept.get(name),
    create: put,
    replace: put,
  };
}

function entries(count: number): Map<string, InventoryEntry> {
  const run = '0b0e8a52-3a5e-4f0e-9a0e-000000000000';
  const each = (_: unknown, n: number): [string, InventoryEntry] => [
    `/ConfigMap/tools/number-${n}`,
    { source: 'fleet', run, uid: `uid-${n}` },
  ];
  return new Map(Array.from({ length: count }, each));
}

test('an inventory is the same after writing and reading, even if it needs several ConfigMaps', async () => {
  const cluster = store();
  const few = await storeInventory(cluster, HOME, await readInventory(cluster, HOME), {
    entries: entries(10),
    leaving: new Map([['/ConfigMap/tools/gone', { uid: 'u', approval: 'hash' }]]),
  });
  expect([...cluster.kept.keys()]).toEqual(['skep-test-inventory']);
  const many = { entries: entries(20_000), leaving: new Map() };
  await storeInventory(cluster, HOME, few, many);
  // The first ConfigMap contains the number of ConfigMaps and is written last. If a run ends before that write, the old
  // inventory is intact.
  expect([cluster.kept.size > 1, cluster.written.at(-1)]).toEqual([true, 'skep-test-inventory']);
  const read = await readInventory(cluster, HOME);
  expect([read.entries.size, read.leaving.size]).toEqual([20_000, 0]);
  expect(read.entries.get('/ConfigMap/tools/number-7')).toEqual(many.entries.get('/ConfigMap/tools/number-7'));
});

test('only ConfigMaps that differ are written', async () => {
  const cluster = store();
  const content = { entries: entries(20_000), leaving: new Map() };
  const first = await storeInventory(cluster, HOME, await readInventory(cluster, HOME), content);
  cluster.written.length = 0;
  const more = new Map([...content.entries, ['/ConfigMap/tools/new', { source: 'fleet', run: 'r' }]]);
  await storeInventory(cluster, HOME, first, { ...content, entries: more });
  expect(cluster.written).toHaveLength(1);
});

test('an inventory with too many objects is refused', async () => {
  const cluster = store();
  const before = await readInventory(cluster, HOME);
  const content = { entries: entries(150_000), leaving: new Map() };
  await expect(storeInventory(cluster, HOME, before, content)).rejects.toMatchObject({ code: 'inventory-full' });
  expect(cluster.written).toEqual([]);
});

test('a damaged line is ignored, and other lines are read', async () => {
  const cluster = store();
  await storeInventory(cluster, HOME, await readInventory(cluster, HOME), { entries: entries(2), leaving: new Map() });
  const [kept] = [...cluster.kept.values()];
  if (kept === undefined) throw new Error('nothing was written');
  const { lines } = kept.data as { readonly lines: string };
  await cluster.replace({ ...kept, data: { lines: `["entry","x",{"run":1}]\n{\n${lines}` } });
  expect((await readInventory(cluster, HOME)).entries.size).toBe(2);
});

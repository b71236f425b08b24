// Records that one object of the API server cannot hold: an approval of more deletions, and a rollback of more sources, than fit
// into a ConfigMap are kept in several.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import {
  approves,
  beginApproved,
  readApprovals,
  spendApprovals,
  storeApproval,
} from '#reconciler/run/records/approval.ts';
import { readInventory, storeInventory } from '#reconciler/run/records/inventory.ts';
import { readLongRecord, storeLongRecord } from '#reconciler/run/records/long-record.ts';
import { clearQuarantine, readQuarantine, release, storeQuarantine } from '#reconciler/run/records/quarantine.ts';
import { sha256 } from '#std/hash.ts';
import { startWorld, type World } from '../../harness/world.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };
const LATER = '2999-01-01T00:00:00Z';
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function deps() {
  return { cluster: world.client, clock: systemClock };
}

function listOf(hash: string, count: number) {
  return { hash, deletions: Array.from({ length: count }, () => ({ uid: randomUUID() })) };
}

async function bytesOf(purpose: string): Promise<number> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps');
  const maps: { metadata: { name: string }; data?: object }[] = body.items;
  const ours = maps.filter(({ metadata }) => metadata.name.startsWith(`skep-test-${purpose}`));
  return ours.reduce((sum, { data = {} }) => sum + Object.values(data).join('').length, 0);
}

async function mapsOf(purpose: string): Promise<readonly string[]> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps');
  const names: string[] = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  return names.filter((name) => name.startsWith(`skep-test-${purpose}`)).sort();
}

test('60,000 deletions are approved beside a few, begun, and spent', async () => {
  const [large, small] = [listOf('large', 60_000), listOf('small', 3)];
  await storeApproval(deps(), HOME, small, LATER);
  expect(await mapsOf('approval')).toEqual(['skep-test-approval']);
  await storeApproval(deps(), HOME, large, LATER);
  expect((await mapsOf('approval')).length).toBeGreaterThan(2);
  const given = await readApprovals(world.client, HOME);
  expect(given.all.map(({ hash, lines, begun }) => [hash, lines.size, begun]).sort()).toEqual([
    ['large', 60_000, false],
    ['small', 3, false],
  ]);
  const begun = await beginApproved(deps(), HOME, given, new Set(['large']));
  // A run that was killed now has left a list of another hash.
  const left = { hash: 'left', deletions: large.deletions.slice(30_000) };
  const again = await readApprovals(world.client, HOME);
  expect(again.all.filter((each) => approves(each, left)).map(({ hash }) => hash)).toEqual(['large']);
  expect(await spendApprovals(world.client, HOME, begun, new Set(['large']))).toEqual([]);
  expect((await readApprovals(world.client, HOME)).all.map(({ hash }) => hash)).toEqual(['small']);
  // What is no part of an approval any more makes room for the next ones.
  for (const hash of ['one', 'two', 'three', 'four']) {
    await storeApproval(deps(), HOME, listOf(hash, 60_000), LATER);
    await spendApprovals(world.client, HOME, await readApprovals(world.client, HOME), new Set([hash]));
  }
  expect(await bytesOf('approval')).toBeLessThan(1000);
});

test('a large approval of which a part was spoilt approves nothing, and others stand', async () => {
  const [large, small] = [listOf('spoilt', 60_000), listOf('whole', 3)];
  await storeApproval(deps(), HOME, small, LATER);
  await storeApproval(deps(), HOME, large, LATER);
  const path = '/api/v1/namespaces/default/configmaps/skep-test-approval-1';
  const { body } = await world.cluster.send('GET', path);
  const data = Object.fromEntries(Object.keys(body.data).map((key) => [key, 'spoilt']));
  await world.cluster.send('PUT', path, { body: { ...body, data } });
  const { all } = await readApprovals(world.client, HOME);
  expect(all.map(({ hash }) => hash)).not.toContain('spoilt');
  expect(all.map(({ hash }) => hash)).toContain('whole');
  await storeApproval(deps(), HOME, large, LATER);
  const again = await readApprovals(world.client, HOME);
  expect(again.all.map(({ hash }) => hash)).toContain('spoilt');
  await spendApprovals(world.client, HOME, again, new Set(['spoilt']));
});

test('a large approval of which a ConfigMap was lost is given again', async () => {
  const large = listOf('lost', 60_000);
  await storeApproval(deps(), HOME, large, LATER);
  await world.cluster.send('DELETE', '/api/v1/namespaces/default/configmaps/skep-test-approval-2');
  expect((await readApprovals(world.client, HOME)).all.map(({ hash }) => hash)).not.toContain('lost');
  await storeApproval(deps(), HOME, large, LATER);
  expect((await readApprovals(world.client, HOME)).all.map(({ hash }) => hash)).toContain('lost');
  await spendApprovals(world.client, HOME, await readApprovals(world.client, HOME), new Set(['lost']));
});

test('who has read before another large approval was given is refused, and that one stands', async () => {
  const before = await readLongRecord(world.client, HOME, 'approval');
  await storeApproval(deps(), HOME, listOf('first', 40_000), LATER);
  const second = listOf('second', 40_000).deletions.map(({ uid }) => `${uid} of the second`);
  const texts = new Map([['second', JSON.stringify({ expiresAt: LATER, uids: second })]]);
  const refused = storeLongRecord(world.client, HOME, 'approval', before, texts);
  await expect(refused).rejects.toMatchObject({ code: 'cluster-conflict' });
  const { all } = await readApprovals(world.client, HOME);
  expect(all.map(({ hash, lines }) => [hash, lines.size])).toContainEqual(['first', 40_000]);
  await spendApprovals(world.client, HOME, await readApprovals(world.client, HOME), new Set(['first']));
});

test('two approvals at the same moment: one is refused, and neither is half there', async () => {
  const given = await Promise.allSettled(
    ['left', 'right'].map((hash) => storeApproval(deps(), HOME, listOf(hash, 40_000), LATER)),
  );
  const { all } = await readApprovals(world.client, HOME);
  const stored = given.map(({ status }, index) => (status === 'fulfilled' ? ['left', 'right'][index] : undefined));
  const found = all.filter(({ hash }) => hash === 'left' || hash === 'right');
  expect(found.map(({ hash }) => hash).sort()).toEqual(stored.filter((hash) => hash !== undefined).sort());
  expect(found.every(({ lines }) => lines.size === 40_000)).toBe(true);
});

test('what no ConfigMaps of one record can hold is refused, and what was approved stays', async () => {
  const stored = storeApproval(deps(), HOME, listOf('endless', 400_000), LATER);
  await expect(stored).rejects.toMatchObject({ code: 'record-full' });
  expect((await readApprovals(world.client, HOME)).all.map(({ hash }) => hash)).toContain('whole');
});

test('200 sources with 500 older commits each are rolled back, one follows its ref again, and the rest are cleared', async () => {
  const entries = Array.from({ length: 200 }, (_, n) => {
    const source = `source-${n}`;
    const older = Array.from({ length: 500 }, (_each, at) => sha256(`${n} ${at}`).slice(0, 40));
    return { source, good: older[0] ?? '', bad: 'b'.repeat(40), older, run: 'run', since: '2026-01-01T00:00:00Z' };
  });
  await storeQuarantine(world.client, HOME, await readQuarantine(world.client, HOME), entries);
  const stored = await readQuarantine(world.client, HOME);
  expect([...stored.entries.values()].sort(bySource)).toEqual(entries.toSorted(bySource));
  expect(await release(world.client, HOME, stored, ['source-7'])).toEqual([]);
  expect((await readQuarantine(world.client, HOME)).entries.size).toBe(199);
  expect(await clearQuarantine(world.client, HOME, [])).toHaveLength(199);
  expect((await readQuarantine(world.client, HOME)).entries.size).toBe(0);
});

test('an inventory grows where a run was killed while it grew', async () => {
  const entries = (count: number) =>
    new Map(
      Array.from({ length: count }, (_, n) => [
        `/ConfigMap/tools/map-${n}`,
        { source: 'fleet', run: 'r', uid: `${n}` },
      ]),
    );
  const few = await storeInventory(world.client, HOME, await readInventory(world.client, HOME), {
    entries: entries(10),
    leaving: new Map(),
  });
  const metadata = { name: 'skep-test-inventory-1', namespace: 'default' };
  await world.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { lines: '' } });
  await storeInventory(world.client, HOME, few, { entries: entries(20_000), leaving: new Map() });
  expect((await readInventory(world.client, HOME)).entries.size).toBe(20_000);
});

function bySource(a: { readonly source: string }, b: { readonly source: string }): number {
  return a.source < b.source ? -1 : 1;
}

// The record of a run's reads does not keep the objects of the run in memory.

import { expect, test } from 'vitest';
import { noteReads } from '#adapters/cluster/kept/noted-reads.ts';
import { collectGarbage } from '#hosts/idle-memory.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { connect, serve, widgets } from '../../harness/api-server.ts';

test('a recorded read of a watched list lets go of the declared objects of the run', async () => {
  const { url } = await serve(() => ({ json: { items: [], metadata: { resourceVersion: '1' } } }));
  const reads = noteReads(await connect(url));
  let declared: KubeObject | undefined = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'large' } };
  const ref = new WeakRef(declared);
  async function readWith(object: KubeObject): Promise<void> {
    await reads.cluster.list(widgets, undefined, { kept: true, hold: (live) => ({ ...object, ...live }) });
  }
  await readWith(declared);
  declared = undefined;
  await collectGarbage();
  expect(ref.deref()).toBeUndefined();
});

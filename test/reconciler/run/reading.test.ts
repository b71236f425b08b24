// What else a thread does while it reads a source.

import { expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import { loadCheckout } from '#reconciler/run/read/checkout.ts';

const CLUSTER = { resources: async () => [], serves: async () => undefined, get: async () => undefined };

function checkoutOf(contents: readonly string[]): Checkout {
  return {
    commit: '0'.repeat(40),
    files: contents.map((_, number) => ({ path: `${number}.yaml`, oid: String(number) })),
    skipped: [],
    read: async (oids) => new Map(oids.map((oid) => [oid, Buffer.from(contents[Number(oid)] ?? '')])),
  };
}

test('a source is read in turns with what the thread has to do beside it', async () => {
  const groups = Array.from(
    { length: 500 },
    (_, number) =>
      `apiVersion: toolhive.stacklok.dev/v1alpha1\nkind: MCPGroup\nmetadata: {name: team-${number}, namespace: tools}\nspec: {}\n`,
  );
  const cache = new Map<string, unknown>();
  const seen: number[] = [];
  let isOver = false;
  const look = (): void => {
    seen.push([...cache.keys()].filter((key) => key.startsWith('objects ')).length);
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const input = { kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', cache, cluster: CLUSTER };
  const loaded = await loadCheckout(input, { name: 'fleet', path: '' }, checkoutOf(groups)).finally(() => {
    isOver = true;
  });
  expect(loaded.problems).toEqual([]);
  expect(loaded.resources).toHaveLength(500);
  expect(seen.filter((count) => count > 0 && count < 500).length).toBeGreaterThanOrEqual(2);
});

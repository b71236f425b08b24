// Where the steps of a workflow stand in its graph in the console.

import { expect, test } from 'vitest';
import { levelsOf } from '#reconciler/control/page/browser/resource/virtual-server/levels.ts';

test('a hundred steps in layers of four get their levels, and each step is visited once', () => {
  const layers = Array.from({ length: 25 }, (_, layer) => [0, 1, 2, 3].map((place) => `${layer}.${place}`));
  let reads = 0;
  const steps = layers.flatMap((ids, layer) =>
    ids.map((id) => ({
      id,
      get depends_on() {
        reads += 1;
        if (reads > 1_000) throw new Error('a step is looked at again and again');
        return layers[layer - 1] ?? [];
      },
    })),
  );
  const levels = levelsOf(steps);
  expect(layers.map((ids) => ids.map((id) => levels.get(id)))).toEqual(layers.map((_, layer) => Array(4).fill(layer)));
  expect(reads).toBe(100);
});

test('the longest path determines the level, and a cycle ends', () => {
  const steps = [
    { id: 'end', depends_on: ['start', 'middle'] },
    { id: 'middle', depends_on: ['start'] },
    { id: 'start', depends_on: [] },
    { id: 'a', depends_on: ['b'] },
    { id: 'b', depends_on: ['a'] },
  ];
  expect(Object.fromEntries(levelsOf(steps))).toMatchObject({ start: 0, middle: 1, end: 2, a: 2, b: 1 });
});

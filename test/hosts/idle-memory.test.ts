// An idle process returns memory once, and again after its heap has grown.

import { getHeapStatistics } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { collectGarbage, watchIdleGrowth } from '#hosts/idle-memory.ts';

const MIB = 1024 * 1024;
/** Heap in MiB after each collection. */
const COLLECTED = 17;
/** Processor time in milliseconds, and heap in MiB, at each look. */
type Looks = readonly (readonly [cpuMs: number, heap: number])[];

/** Indexes of the looks that are followed by a collection. */
function dueAt(looks: Looks): readonly number[] {
  const growth = watchIdleGrowth(300);
  return looks.flatMap(([cpuMs, heap], index) => {
    if (!growth.isDue({ cpuMs, heapBytes: heap * MIB })) return [];
    growth.collected(COLLECTED * MIB);
    return [index];
  });
}

describe('a collection is due', () => {
  test.each<[string, Looks, readonly number[]]>([
    [
      'in the first idle interval after the start',
      [
        [310, 25],
        [320, 17],
        [330, 17],
      ],
      [0],
    ],
    [
      'not while the process works',
      [
        [500, 25],
        [700, 40],
        [900, 60],
      ],
      [],
    ],
    [
      'in the first idle interval after work',
      [
        [500, 25],
        [510, 25],
        [900, 40],
        [910, 40],
        [920, 17],
      ],
      [1, 3],
    ],
    [
      'not if the heap has hardly grown since the last collection',
      [
        [310, 25],
        [320, 24],
        [330, 24],
      ],
      [0],
    ],
    [
      'if small growth adds up',
      [
        [310, 25],
        [320, 20],
        [330, 22],
        [340, 25],
        [350, 17],
      ],
      [0, 3],
    ],
  ])('%s', (_, looks, expected) => {
    expect(dueAt(looks)).toEqual(expected);
  });
});

test('a collection shrinks the heap', async () => {
  let kept: object[] | undefined = Array.from({ length: 1_000_000 }, (_, number) => ({ number }));
  const { total_physical_size: before } = getHeapStatistics();
  expect(kept).toHaveLength(1_000_000);
  kept = undefined;
  await collectGarbage();
  expect(before - getHeapStatistics().total_physical_size).toBeGreaterThan(20_000_000);
});

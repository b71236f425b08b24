// How long things take beside each other.

/**
 * Median milliseconds of each contestant. They take turns, so that whatever else the machine does meets all of them, and
 * each starts with an empty nursery (`--expose-gc`). One more round than counted warms up.
 */
export async function medians<K extends string>(
  rounds: number,
  contestants: Readonly<Record<K, () => unknown>>,
): Promise<Record<K, number>> {
  const names = Object.keys(contestants) as K[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      globalThis.gc?.();
      const start = performance.now();
      await contestants[name]();
      if (round > 0) times.get(name)?.push(performance.now() - start);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<K, number>;
}

/** Of an even number of values the lower one of the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}

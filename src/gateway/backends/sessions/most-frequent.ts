// The value that a list holds most often.

/** Undefined for an empty list; of several values with the same count the one that came first. */
export function mostFrequent<Value>(values: Iterable<Value>): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let most: readonly [Value | undefined, number] = [undefined, 0];
  for (const entry of counts) if (entry[1] > most[1]) most = entry;
  return most[0];
}

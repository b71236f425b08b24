// Bounds maps to which any client on the network can add entries.

/**
 * Sets the value. If the map then has more than `max` entries, the oldest are removed. A key that is set again counts
 * as new.
 */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}

// Bounds the size of maps that network clients can fill.

/**
 * Sets the value. Removes the oldest entries if the map exceeds `max` entries. A key that is set again becomes the
 * newest.
 */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}

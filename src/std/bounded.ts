// Maps that anybody on the network can add to, and that must not grow for that.

/** Sets the value; where that makes more than `max`, the oldest keys go. A key that was there counts as new. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}

// Writes a number of things in words: `1 server`, `2 servers`.

/** Returns the number and the noun. `plural` is needed if it is not the noun with an s. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

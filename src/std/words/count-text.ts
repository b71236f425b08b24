// Formats a number with its noun: `1 server`, `2 servers`.

/** Returns the number and the noun. Default of `plural`: the noun with an s. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

// Writes a number of things in words: `1 server`, `2 servers`.

/** `plural`: the plural, if it does not just end in s. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

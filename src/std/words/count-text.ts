// A number of things in words: `1 server`, `2 servers`.

/** `plural`: where it is more than an s. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

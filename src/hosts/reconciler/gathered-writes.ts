// Joins texts that are written in quick succession into one write, because each write to a pipe wakes its reader.

export interface GatheredWrites {
  write(text: string): void;
  /** Writes the buffered texts at once. */
  flush(): void;
}

const WITHIN_MS = 100;

/**
 * Buffers texts for about 100 ms. An exit of the process writes them, so callers of `process.exit` need not call
 * `flush`.
 */
export function gatherWrites(write: (text: string) => void): GatheredWrites {
  const held: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    process.off('exit', flush);
    const text = held.splice(0).join('');
    if (text !== '') write(text);
  }
  return {
    write(text) {
      held.push(text);
      if (timer !== undefined) return;
      timer = setTimeout(flush, WITHIN_MS);
      process.once('exit', flush);
    },
    flush,
  };
}

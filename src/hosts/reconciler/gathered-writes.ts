// What is written in quick succession leaves in one piece: each write to a pipe also wakes whoever reads it, and is waited
// for.

export interface GatheredWrites {
  write(text: string): void;
  /** Writes at once what was held back. */
  flush(): void;
}

const WITHIN_MS = 100;

/** What is written is held back for about 100 ms; whoever ends the process by `process.exit` need not think of it. */
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

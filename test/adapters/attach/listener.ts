// What comes of an attached container, and when it ends.

import type { StreamsHandlers } from '#gateway/backends/ports.ts';

export interface Heard extends StreamsHandlers {
  readonly text: { stdout: string; stderr: string };
  /** Settled with the detail of `closed`. */
  readonly end: Promise<string>;
  /** Settled once standard output ends with the text. */
  until(text: string): Promise<void>;
}

export function listener(): Heard {
  const text = { stdout: '', stderr: '' };
  const waiting: { text: string; resolve: () => void }[] = [];
  let end: (detail: string) => void = () => undefined;
  return {
    text,
    end: new Promise((resolve) => {
      end = resolve;
    }),
    until: (wanted) =>
      new Promise((resolve) => {
        if (text.stdout.endsWith(wanted)) resolve();
        else waiting.push({ text: wanted, resolve });
      }),
    stdout(chunk) {
      text.stdout += chunk.toString('latin1');
      for (const each of waiting) if (text.stdout.endsWith(each.text)) each.resolve();
    },
    stderr(chunk) {
      text.stderr += chunk.toString('latin1');
    },
    drain: () => undefined,
    closed: (detail) => end(detail),
  };
}

// Talks to the person at the terminal: progress and messages on standard error, and questions with answers.

import { createInterface } from 'node:readline/promises';
import { visible } from '#reconciler/report/visible.ts';

export interface Terminal {
  /** Whether a person can answer questions. */
  readonly interactive: boolean;
  readonly say: (line: string) => void;
  /** Prints a line that the next line replaces, if the terminal supports this; otherwise a normal line. */
  readonly progress: (line: string) => void;
  /** Removes the progress, before something is printed elsewhere. */
  readonly clear: () => void;
  /** Returns undefined if the person gave up (Ctrl-D, Ctrl-C). */
  readonly ask: (question: string) => Promise<string | undefined>;
}

export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Erases the line (ECMA-48, EL and CR). */
const ERASE = '\r\u001b[K';

export function openTerminal({ stdin, stderr }: Streams): Terminal {
  let pending = false;
  const erase = () => {
    if (pending) stderr.write(ERASE);
    pending = false;
  };
  return {
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    say: (line) => {
      erase();
      stderr.write(`${visible(line)}\n`);
    },
    progress: (line) => {
      erase();
      pending = stderr.isTTY === true;
      const shown = visible(line).replaceAll('\n', ' ');
      stderr.write(pending ? shown.slice(0, Math.max(stderr.columns - 1, 0)) : `${shown}\n`);
    },
    clear: erase,
    ask: async (question) => {
      erase();
      return askLine({ stdin, stderr }, visible(question));
    },
  };
}

async function askLine({ stdin, stderr }: Streams, question: string): Promise<string | undefined> {
  const lines = createInterface({ input: stdin, output: stderr });
  const givenUp = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.once('SIGINT', () => lines.close());
  });
  try {
    return await Promise.race([lines.question(question), givenUp]);
  } finally {
    lines.close();
  }
}

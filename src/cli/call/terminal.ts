// Prints progress and messages to standard error, and asks questions at the terminal.

import { createInterface } from 'node:readline/promises';
import { visible } from '#reconciler/report/visible.ts';

export interface Terminal {
  /** True if a person can answer questions. */
  readonly interactive: boolean;
  readonly say: (line: string) => void;
  /** Prints a line that the next output replaces. If standard error is not a terminal, prints a normal line. */
  readonly progress: (line: string) => void;
  /** Removes the progress line, before text is printed to another stream. */
  readonly clear: () => void;
  /** Returns the answer; undefined if the person cancels with Ctrl-D or Ctrl-C. */
  readonly ask: (question: string) => Promise<string | undefined>;
}

export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Returns to the start of the line and erases the line (ECMA-48, CR and EL). */
const ERASE = '\r\u001b[K';

export function openTerminal({ stdin, stderr }: TerminalStreams): Terminal {
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

async function askLine({ stdin, stderr }: TerminalStreams, question: string): Promise<string | undefined> {
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

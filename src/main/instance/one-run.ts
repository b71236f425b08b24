// One run of an instance that is opened for it, told as it happens. Knows nothing about what the run does.

import type { Outcome } from '../../reconcile/apply/apply.ts';
import { exitCodeOf, type RunResult } from '../../reconcile/result.ts';
import { jsonOfRun } from '../../report/json.ts';
import { textOfEnding, textOfOutcome } from '../../report/text.ts';
import type { Instance } from './instance.ts';

/** Prints the result to stdout and sets the exit code of the process. */
export async function runAndTell(
  output: 'text' | 'json',
  open: (progress: (outcome: Outcome) => void) => Promise<Instance>,
  run: (instance: Instance) => Promise<RunResult>,
): Promise<void> {
  const json = output === 'json';
  // Each change is told as it is made; where JSON is asked for, only to a person who watches.
  const progress = json ? process.stderr : process.stdout;
  const quiet = json && !process.stderr.isTTY;
  const instance = await open((outcome) => {
    if (!quiet) progress.write(`${textOfOutcome(outcome)}\n`);
  });
  try {
    const result = await run(instance);
    process.stdout.write(json ? jsonOfRun(result) : textOfEnding(result));
    process.exitCode = exitCodeOf(result);
  } finally {
    await instance.close();
  }
}

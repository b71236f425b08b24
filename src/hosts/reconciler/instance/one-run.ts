// Opens an instance, makes one run and prints its progress. Ctrl-C ends the run early, and its changes are still
// reported.

import { jsonOfRun } from '#reconciler/report/formats/json.ts';
import { createProgress, textOfWaiting, textOfWaitingForSource } from '#reconciler/report/progress.ts';
import { textOfEnding, textOfOutcome } from '#reconciler/report/text.ts';
import { RUN_STOPPED } from '#reconciler/run/apply/apply.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import type { RunDeps } from '#reconciler/run/run.ts';
import type { ReportWaiting } from '#reconciler/run/waiting.ts';
import { systemClock } from '../../clock.ts';
import { writeColoured } from '../../colour.ts';
import type { InstanceFlags } from '../../config/configuration.ts';
import { commandOf } from '../../own-command.ts';
import { awaitSignal } from '../../signals.ts';
import { prepareForOneRun } from '../../v8-flags.ts';
import { type GatheredWrites, gatherWrites } from '../gathered-writes.ts';
import { createStopping } from '../loop/stopping.ts';
import type { Instance } from './instance.ts';
import type { InstanceWatch } from './watch.ts';

const SOME_FAILED = 7;

type SourceAwaited = Parameters<NonNullable<InstanceWatch['waitingForSource']>>[0];

interface Flags extends InstanceFlags {
  readonly output: 'text' | 'json';
}

/** Prints the result to stdout, and sets the exit code of the process. */
export async function runAndTell(
  { output, ...flags }: Flags,
  open: (progress: RunDeps['progress'], watch: InstanceWatch) => Promise<Instance>,
  run: (instance: Instance, waiting: ReportWaiting) => Promise<RunResult>,
): Promise<void> {
  prepareForOneRun();
  const stopping = createStopping();
  const stream = output === 'json' ? process.stderr : process.stdout;
  const lines = gatherWrites((text) => writeColoured(stream, text));
  void awaitSignal().then(() => {
    lines.flush();
    process.stderr.write(
      'stopping: requests in flight are finished, nothing more is changed (press Ctrl-C again to end at once)\n',
    );
    stopping.stop();
  });
  const writeProgress = isWatched(output) ? lines.write : () => undefined;
  const waiting: ReportWaiting = (each) => writeProgress(textOfWaiting(each));
  const watch = {
    stopping,
    waiting,
    waitingForSource: (each: SourceAwaited) => writeProgress(textOfWaitingForSource(each)),
  };
  const instance = await open(progressTo(writeProgress, stopping.signal), watch);
  try {
    const result = await run(instance, waiting).finally(lines.flush);
    if (output === 'json') process.stdout.write(jsonOfRun(result));
    else writeColoured(process.stdout, textOfEnding(result, commandOf(flags)));
    const code = exitCodeOf(result);
    const isUnfinished = result.outcomes.some(({ error }) => error?.code === RUN_STOPPED);
    process.exitCode = code === 0 && isUnfinished ? SOME_FAILED : code;
  } finally {
    await instance.close();
  }
}

/** Returns whether progress is shown. With JSON output, progress is shown only on a terminal. */
function isWatched(output: 'text' | 'json'): boolean {
  return output === 'text' || process.stderr.isTTY;
}

/** Returns a function that prints each change when it is made. */
function progressTo(write: GatheredWrites['write'], stopped: AbortSignal): RunDeps['progress'] {
  const progress = createProgress(systemClock.monotonic);
  return (outcome, planned) => {
    // Changes that did not begin are counted in the summary.
    if (stopped.aborted && outcome.action === 'held') return;
    const far = planned === undefined ? undefined : progress(planned);
    write(`${textOfOutcome(outcome)}\n${far === undefined ? '' : `${far}\n`}`);
  };
}

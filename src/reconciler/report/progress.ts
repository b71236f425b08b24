// Renders the progress of a long run: the number of changes, an estimate of the remaining time, and the reason of a
// wait.

import { formatId } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import { durationText } from '#std/words/duration-text.ts';
import type { NotReady } from '../run/settle/readiness.ts';
import type { WaitReason } from '../run/waiting.ts';
import { visible, visibleLines } from './visible.ts';

const EVERY_MS = 5000;

/**
 * Returns a function to call for each change. The function returns a line at most every five seconds, and not in the
 * first five seconds. The estimate begins at the first change, because the time for Git and registries does not predict
 * the remaining time. `monotonic` returns milliseconds.
 */
export function createProgress(monotonic: () => number): (planned: number) => string | undefined {
  let startedAt: number | undefined;
  let reportedAt = 0;
  let done = 0;
  return (planned) => {
    const now = monotonic();
    done += 1;
    if (startedAt === undefined) {
      startedAt = now;
      reportedAt = now;
    }
    if (now - reportedAt < EVERY_MS || done >= planned) return undefined;
    reportedAt = now;
    const seconds = Math.ceil(((now - startedAt) / (done - 1)) * (planned - done) * 0.001);
    return `${done} of ${planned} changes, about ${seconds} s left`;
  };
}

/** Maximum number of resources to name. Further resources are only counted. */
const NAMED_MAX = 10;

/** Returns the reason of the wait, and its maximum remaining time. */
export function textOfWaiting(waiting: WaitReason): string {
  const left = `${durationText(waiting.leftMs)} left`;
  switch (waiting.for) {
    case 'resources':
      return visibleLines([
        ...waiting.unlisted.map((kind) => `waiting for the API server to list ${kind} (${left})`),
        ...linesOfNotReady('waiting for ', waiting.resources, ` (${left})`),
      ]);
    case 'lease':
      return `${visible(`waiting for another run of this instance to end: ${waiting.holder} has the lease (${left})`)}\n`;
    case 'deletion':
      return `${visible(`waiting for ${formatId(waiting.resource)} to be deleted before it is created again (${left})`)}\n`;
  }
}

export function textOfWaitingForSource({
  name,
  waitedMs,
}: {
  readonly name: string;
  readonly waitedMs: number;
}): string {
  return visibleLines([`waiting for source ${name}: its server has not responded for ${durationText(waitedMs)}`]);
}

/** Returns one line per resource with the message of its status, and one line with the number of further resources. */
export function linesOfNotReady(before: string, resources: readonly NotReady[], after = ''): string[] {
  const more = resources.length - NAMED_MAX;
  return [
    ...resources.slice(0, NAMED_MAX).map((each) => {
      const why = each.why === '' ? '' : `: ${each.why.replaceAll(/\s*\n\s*/g, ' ')}`;
      return `${before}${formatId(each)}${why}${after}`;
    }),
    ...(more <= 0 ? [] : [`${before}${countText(more, 'other resource')}${after}`]),
  ];
}

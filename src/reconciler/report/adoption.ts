// Renders an adoption from ToolHive's operator as lines for people and as JSON.

import { formatId, formatProblem, type ResourceId } from '#std/problem.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { countText } from '#std/words/count-text.ts';
import type { AdoptionResult } from '../run/operate/adopt.ts';
import type { Adoption } from '../run/operate/adoption.ts';
import { visible, visibleLines } from './visible.ts';

export function textOfAdoption(
  { adoptions, done, refused, running, otherInstances, problems, failures }: AdoptionResult,
  commandOf: CommandOf,
): string {
  const lines = [
    ...adoptions.map((each) => `${formatId(each.resource)}: ${sayings(each).join('; ')}`),
    ...problems.map(formatProblem),
    ...failures.map(({ code, message }) => `error ${code}: ${message}`),
    ...(running === undefined || done
      ? []
      : [`ToolHive's operator still runs: its Lease ${formatId(running)} is renewed`]),
    ...(done ? [] : otherInstances.map(textOfOther)),
    done ? endingOf(adoptions.length - refused.length, refused, commandOf) : outlook(adoptions.length, commandOf),
  ];
  return visibleLines(lines);
}

/** Returns the line about another instance. If both instances run, each run takes the objects over again. */
function textOfOther(instance: string): string {
  return `the instance ${instance} keeps some of these objects: stop or suspend it first, and take them out of its sources`;
}

function sayings({ finalizers, managers, owner, surplus, undecided }: Adoption): string[] {
  return [
    ...finalizers.map((name) => `remove finalizer ${name}`),
    ...(owner === undefined ? [] : [`set ${owner.kind} ${owner.name} as owner`]),
    ...(managers.length === 0 ? [] : [`take over the fields of ${managers.join(', ')}`]),
    ...(surplus ? ['skep creates no such object: the next run deletes it, within the limits on deletions'] : []),
    ...(undecided === true
      ? ['its owner is kept unchanged: whether skep creates such an object is known once that is fixed']
      : []),
  ];
}

function outlook(count: number, commandOf: CommandOf): string {
  if (count === 0) return NOTHING;
  return `${countText(count, 'object')} to take over, nothing is deleted or restarted by that; to do it: ${commandOf('adopt --yes')}`;
}

function endingOf(count: number, refused: readonly ResourceId[], commandOf: CommandOf): string {
  if (refused.length > 0) {
    const rest = `${countText(refused.length, 'object')} not, for the errors above: ${refused.map(formatId).join(', ')}`;
    return `${countText(count, 'object')} taken over, ${rest}; to try again: ${commandOf('adopt --yes')}`;
  }
  return count === 0
    ? NOTHING
    : `${countText(count, 'object')} taken over; to see the changes of the next run: ${commandOf('plan')}`;
}

const NOTHING = 'nothing to take over';

export function jsonOfAdoption({
  adoptions,
  done,
  refused,
  running,
  otherInstances,
  problems,
  failures,
}: AdoptionResult): string {
  const shown = {
    version: 1,
    done,
    refused,
    running,
    otherInstances,
    adoptions: adoptions.map(({ object: _object, ...each }) => each),
    problems: problems.map(({ place, ...problem }) => ({ ...problem, ...place })),
    failures: failures.map(({ code, message }) => ({ code, message })),
  };
  return `${visible(JSON.stringify(shown, undefined, 2))}\n`;
}

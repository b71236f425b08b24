// What is taken over from the existing operator, as lines for people and as JSON. Knows nothing about how it is done.

import type { AdoptionResult } from '../reconcile/operate/adopt.ts';
import type { Adoption } from '../reconcile/operate/adoption.ts';
import { formatId, formatProblem, type ResourceId } from '../std/problem.ts';
import { visible, visibleLines } from './visible.ts';

export function textOfAdoption({ adoptions, done, refused, running, problems, failures }: AdoptionResult): string {
  const lines = [
    ...adoptions.map((each) => `${formatId(each.resource)}: ${sayings(each).join('; ')}`),
    ...problems.map(formatProblem),
    ...failures.map(({ code, message }) => `error ${code}: ${message}`),
    ...(running === undefined || done
      ? []
      : [`ToolHive's operator still runs: its Lease ${formatId(running)} is renewed`]),
    done ? endingOf(adoptions.length - refused.length, refused) : outlook(adoptions.length),
  ];
  return visibleLines(lines);
}

function sayings({ finalizers, managers, owner, surplus }: Adoption): string[] {
  return [
    ...finalizers.map((name) => `finalizer ${name} goes`),
    ...(owner === undefined ? [] : [`belongs to ${owner.kind} ${owner.name} from now on`]),
    ...(managers.length === 0 ? [] : [`the fields of ${managers.join(', ')} become ours`]),
    ...(surplus ? ['we make no such object: the next run deletes it, within the limits on deletions'] : []),
  ];
}

function outlook(count: number): string {
  if (count === 0) return NOTHING;
  return `${countObjects(count)} to take over; with --yes they are. Nothing is deleted or restarted by that`;
}

function endingOf(count: number, refused: readonly ResourceId[]): string {
  if (refused.length > 0) {
    const again = `${countObjects(refused.length)} still to take over, by another \`skep adopt --yes\``;
    return `${countObjects(count)} taken over; ${again}: ${refused.map(formatId).join(', ')}`;
  }
  return count === 0 ? NOTHING : `${countObjects(count)} taken over; \`skep plan\` shows what the next run changes`;
}

const NOTHING = 'nothing to take over';

function countObjects(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`;
}

export function jsonOfAdoption({ adoptions, done, refused, running, problems, failures }: AdoptionResult): string {
  const shown = {
    version: 1,
    done,
    refused,
    running,
    adoptions: adoptions.map(({ object: _object, ...each }) => each),
    problems: problems.map(({ place, ...problem }) => ({ ...problem, ...place })),
    failures: failures.map(({ code, message }) => ({ code, message })),
  };
  return `${visible(JSON.stringify(shown, undefined, 2))}\n`;
}

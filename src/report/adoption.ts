// What is taken over from the existing operator, as lines for people and as JSON. Knows nothing about how it is done.

import type { AdoptionResult } from '../reconcile/adopt.ts';
import type { Adoption } from '../reconcile/adoption.ts';
import { formatId, formatProblem } from '../std/problem.ts';

export function textOfAdoption({ adoptions, done, running, problems, failures }: AdoptionResult): string {
  const lines = [
    ...adoptions.map((each) => `${formatId(each.resource)}: ${sayings(each).join('; ')}`),
    ...problems.map(formatProblem),
    ...failures.map(({ code, message }) => `error ${code}: ${message}`),
    ...(running === undefined || done
      ? []
      : [`the existing operator still runs: its Lease ${formatId(running)} is renewed`]),
    ending(adoptions.length, done),
  ];
  return `${lines.join('\n')}\n`;
}

function sayings({ finalizers, managers, owner, surplus }: Adoption): string[] {
  return [
    ...finalizers.map((name) => `finalizer ${name} goes`),
    ...(owner === undefined ? [] : [`belongs to ${owner.kind} ${owner.name} from now on`]),
    ...(managers.length === 0 ? [] : [`the fields of ${managers.join(', ')} become ours`]),
    ...(surplus ? ['we make no such object: the next run deletes it, within the limits on deletions'] : []),
  ];
}

function ending(count: number, done: boolean): string {
  if (count === 0) return 'nothing to take over';
  const objects = count === 1 ? '1 object' : `${count} objects`;
  return done
    ? `${objects} taken over; \`skep plan\` shows what the next run changes`
    : `${objects} to take over; with --yes they are. Nothing is deleted or restarted by that`;
}

export function jsonOfAdoption({ adoptions, done, running, problems, failures }: AdoptionResult): string {
  const shown = {
    version: 1,
    done,
    ...(running === undefined ? {} : { running }),
    adoptions: adoptions.map(({ object: _object, ...each }) => each),
    problems: problems.map(({ place, ...problem }) => ({ ...problem, ...place })),
    failures: failures.map(({ code, message }) => ({ code, message })),
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

// Renders waiting and approved deletions, and objects that are kept unchanged, as lines for people.

import { formatId } from '#std/problem.ts';
import type { Plan } from '../run/plan/plan.ts';
import type { Extent, Style } from './command.ts';
import { type Folded, fold, type ReportItem, sentenceOf } from './fold.ts';

export function guardLines({ waiting }: Pick<Plan, 'waiting'>, { extent, commandOf }: Style): string[] {
  return waiting.flatMap(({ source, hash, reasons, deletions, expiredAt }) => [
    `${nameOfWaiting({ source, deletions })} wait for approval (${hash}): ${reasons.join('; ')}`,
    ...deletionLines(deletions, extent),
    ...(expiredAt === undefined ? [] : [`their approval expired at ${expiredAt}`]),
    `to ${deletions.length === 0 ? 'write them' : 'delete exactly these'}: ${commandOf(`approve ${hash}`)}`,
  ]);
}

/**
 * Returns a name for a waiting list. A list without deletions stands for all changes of the run, and waits if the
 * instance has read only other sources before.
 */
export function nameOfWaiting({ source, deletions }: { source: string; deletions: readonly unknown[] }): string {
  return deletions.length === 0 ? 'all changes' : nameOfList(source);
}

/** Returns a name for a list of deletions. The source is empty for children of resources that were applied by hand. */
function nameOfList(source: string): string {
  return source === '' ? 'deletions' : `deletions of source ${source}`;
}

/** Returns the end of a line about a deletion: the object is created again, or other objects are deleted with it. */
export function fateOf({
  replaced,
  takes = [],
}: {
  readonly replaced?: true;
  readonly takes?: readonly string[];
}): string {
  const along = takes.length === 0 ? '' : ` (with it: ${takes.join(', ')})`;
  return replaced === true ? ' (deleted and created again)' : along;
}

export function approvedLines({ approved }: Plan): string[] {
  return approved.map(
    ({ approval, reasons, ...list }) =>
      `${nameOfWaiting(list)} are approved (${approval.hash}, until ${approval.expiresAt}): ${reasons.join('; ')}`,
  );
}

export function deletionLines(deletions: Plan['waiting'][number]['deletions'], extent: Extent = 'folded'): string[] {
  return fold(deletions, extent).map(({ entry, along }) => `  - ${entry.id}${along}${fateOf(entry)}`);
}

interface UnchangedItem extends ReportItem {
  readonly reason: string;
}

/** Returns the objects that are kept unchanged, without objects that wait for approval. */
export function keptOf(
  { held, waiting }: Pick<Plan, 'held' | 'waiting'>,
  extent: Extent,
): readonly Folded<UnchangedItem>[] {
  const waitingToo = new Set(waiting.flatMap(({ deletions }) => deletions.map(({ id }) => id)));
  const all = held.map(({ resource, owner, reason }) => {
    return { id: formatId(resource), owner: owner && formatId(owner), reason };
  });
  return fold(
    all.filter(({ id }) => !waitingToo.has(id)),
    extent,
  );
}

/** Returns one sentence or list per reason. A child is counted at its owner if the owner is listed. */
export function heldLines(plan: Plan, style: Style): string[] {
  const listed = keptOf(plan, style.extent);
  return [...Map.groupBy(listed, ({ entry }) => entry.reason)].flatMap(([reason, entries]) =>
    sentenceOf(
      `kept unchanged (${reason})`,
      entries.map(({ entry, along }) => `${entry.id}${along}`),
      style,
    ),
  );
}

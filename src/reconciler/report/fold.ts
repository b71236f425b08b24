// Folds many objects into few lines. Children are counted at their custom resource:
// `docs/MCPServer/wiki (+10 objects)`.

import { countText } from '#std/words/count-text.ts';
import type { Extent, Style } from './command.ts';

export interface ReportItem {
  readonly id: string;
  readonly owner?: string | undefined;
  /** Reason why the object is listed. */
  readonly reason?: string;
}

/** Maximum number of lines of a folded list. */
const LINES_MAX = 20;
/** Maximum number of names in a sentence. More names get a line each. */
const IN_SENTENCE_MAX = 3;

export interface Folded<T> {
  readonly entry: T;
  /** Count of children, such as ` (+10 objects)`; empty without children. */
  readonly along: string;
}

/**
 * Returns the entries with counts of children. A child whose owner is listed has no entry. Children of an unlisted
 * owner share one entry if they have the same reason. If `extent` is `all`, every object has an entry.
 */
export function fold<T extends ReportItem>(entries: readonly T[], extent: Extent): Folded<T>[] {
  if (extent === 'all') return entries.map((entry) => ({ entry, along: '' }));
  const listed = new Set(entries.map(({ id }) => id));
  const isChild = ({ owner }: T): boolean => owner !== undefined && owner !== '';
  const follows = (entry: T): boolean => isChild(entry) && listed.has(entry.owner ?? '');
  const followers = Map.groupBy(entries.filter(follows), ({ owner }) => owner);
  const own = entries.filter((entry) => !follows(entry));
  const siblings = Map.groupBy(own, (entry) => (isChild(entry) ? `of ${entry.owner} ${entry.reason ?? ''}` : entry.id));
  return [...siblings.values()].flatMap(([entry, ...more]) => {
    if (entry === undefined) return [];
    const count = followers.get(entry.id)?.length ?? 0;
    const made = count === 0 ? '' : ` (+${countText(count, 'object')})`;
    return [{ entry, along: more.length === 0 ? made : ` (and ${more.length} more of ${entry.owner})` }];
  });
}

/** Returns the line `head: a, b`. If there are more names than `IN_SENTENCE_MAX`, each name gets a line. */
export function sentenceOf(head: string, names: readonly string[], { extent, commandOf }: Style): string[] {
  if (names.length <= IN_SENTENCE_MAX) return [`${head}: ${names.join(', ')}`];
  const shown = extent === 'all' ? names : names.slice(0, LINES_MAX);
  const more = names.length - shown.length;
  const rest = `  and ${more} more; to see all: ${commandOf('plan --details')}`;
  return [`${head}:`, ...shown.map((name) => `  ${name}`), ...(more === 0 ? [] : [rest])];
}

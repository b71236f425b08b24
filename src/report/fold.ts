// Many objects in few lines: what a custom resource is made of goes with it, `docs/MCPServer/wiki (+10 objects)`. Knows nothing
// about what is said of them.

export interface Listed {
  readonly id: string;
  /** The custom resource that it is made of. */
  readonly owner?: string | undefined;
}

/** How much of a list is printed: a line for each custom resource at most, or every object by its name. */
export type Extent = 'folded' | 'all';

/** Where the rest is: no list of lines is longer. */
const LINES_MAX = 20;
/** As many stand in the sentence itself. */
const IN_SENTENCE_MAX = 3;
const MORE = 'skep plan --details names all';

export interface Folded<T> {
  readonly entry: T;
  /** ` (+10 objects)`, or nothing. */
  readonly along: string;
}

/** Without those whose owner is listed, too. */
export function fold<T extends Listed>(
  entries: readonly T[],
  extent: Extent,
  all: readonly Listed[] = entries,
): Folded<T>[] {
  if (extent === 'all') return entries.map((entry) => ({ entry, along: '' }));
  const listed = new Set(all.map(({ id }) => id));
  const followers = Map.groupBy(
    all.filter(({ owner }) => owner !== undefined && listed.has(owner)),
    ({ owner }) => owner,
  );
  return entries
    .filter(({ owner }) => owner === undefined || !listed.has(owner))
    .map((entry) => {
      const count = followers.get(entry.id)?.length ?? 0;
      return { entry, along: count === 0 ? '' : ` (+${count} ${count === 1 ? 'object' : 'objects'})` };
    });
}

/** `head: a, b`, or with many a line for each. */
export function sentenceOf(head: string, names: readonly string[], extent: Extent): string[] {
  if (names.length <= IN_SENTENCE_MAX) return [`${head}: ${names.join(', ')}`];
  const shown = extent === 'all' ? names : names.slice(0, LINES_MAX);
  const more = names.length - shown.length;
  return [`${head}:`, ...shown.map((name) => `  ${name}`), ...(more === 0 ? [] : [`  and ${more} more (${MORE})`])];
}

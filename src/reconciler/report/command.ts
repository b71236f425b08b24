// Defines the style of a text for people: the extent of its lists, and the form of commands in it.

import type { CommandOf } from '#std/words/command-of.ts';

/** Extent of a printed list: a line for each custom resource at most, or every object by its name. */
export type Extent = 'folded' | 'all';

/** Style of a text for people. */
export interface Style {
  readonly extent: Extent;
  readonly commandOf: CommandOf;
}

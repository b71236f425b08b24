// How a text for people is written: how much of a list it names, and how commands are typed in it.

import type { CommandOf } from '#std/words/command-of.ts';

/** How much of a list is printed: a line for each custom resource at most, or every object by its name. */
export type Extent = 'folded' | 'all';

/** How a text for people is written. */
export interface Style {
  readonly extent: Extent;
  readonly commandOf: CommandOf;
}

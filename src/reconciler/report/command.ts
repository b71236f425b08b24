// Defines the style of a text for people: the length of its lists, and the form of the commands that it mentions.

import type { CommandOf } from '#std/words/command-of.ts';

/** `folded`: children are counted at their custom resource, and long lists are cut. `all`: every object is named. */
export type Extent = 'folded' | 'all';

export interface Style {
  readonly extent: Extent;
  readonly commandOf: CommandOf;
}

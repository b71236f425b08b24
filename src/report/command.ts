// How commands are typed where a text is read, and how much of a list it names. Knows nothing about how skep was started.

/** Makes of `approve HASH` a command that can be copied. */
export type CommandOf = (words: string) => string;

/** Where skep is on the path and its settings are found without being named. */
export const INSTALLED: CommandOf = (words) => `skep ${words}`;

/** How much of a list is printed: a line for each custom resource at most, or every object by its name. */
export type Extent = 'folded' | 'all';

/** How a text for people is written. */
export interface Style {
  readonly extent: Extent;
  readonly commandOf: CommandOf;
}

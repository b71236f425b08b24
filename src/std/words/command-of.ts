// Defines how texts for users write commands.

/** Returns a command that users can copy, for words such as `approve HASH`. */
export type CommandOf = (words: string) => string;

/** For a program that is in PATH and finds its settings by itself. */
export const INSTALLED: CommandOf = (words) => `skep ${words}`;

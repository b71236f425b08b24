// Defines how texts for users write commands.

/** Returns a command that users can copy, for words such as `approve HASH`. */
export type CommandOf = (words: string) => string;

/** Returns commands for an installed program: `skep` is in PATH and needs no flags for its settings. */
export const INSTALLED: CommandOf = (words) => `skep ${words}`;

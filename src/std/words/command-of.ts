// Defines the form of commands in texts for users.

/** Returns a command that can be copied, for words such as `approve HASH`. */
export type CommandOf = (words: string) => string;

/** The form if the program is on the path and finds its settings by itself. */
export const INSTALLED: CommandOf = (words) => `skep ${words}`;

// How commands are typed where a text is read.

/** Makes of `approve HASH` a command that can be copied. */
export type CommandOf = (words: string) => string;

/** Where the program is on the path and its settings are found without being named. */
export const INSTALLED: CommandOf = (words) => `skep ${words}`;

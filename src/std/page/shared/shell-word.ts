// One word of a line for a POSIX shell.

/** As it is where the shell leaves it alone, else in single quotes, in which nothing has a meaning. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// Quotes a word for a POSIX shell.

/**
 * Returns the word unchanged if the shell does not change it, else in single quotes, in which no character has a
 * special meaning.
 */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

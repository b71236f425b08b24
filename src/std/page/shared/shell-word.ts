// Quotes a word for a POSIX shell.

/**
 * Returns the word unchanged if the shell has no special meaning for its characters. Otherwise returns the word in
 * single quotes.
 */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// Shortens texts of unknown origin for logs.

/** Returns the beginning of a text: anyone can write the claims of refused tokens, so a log shows only a part. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

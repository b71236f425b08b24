// Shortens texts of unknown origin for logs.

/** Anyone can write the claims of refused tokens: a log shows at most this much of them. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

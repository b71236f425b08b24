// Shortens texts of untrusted origin for logs.

/** Returns at most 200 characters. Anyone can write claims of refused tokens into the log. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

// Shortens texts of untrusted origin for logs.

/** Returns at most 200 characters, because refused tokens may contain any claims. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

// What a log shows of a text that anyone may have written.

/** Claims of refused tokens are written by anyone: a log shows no more than this of them. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

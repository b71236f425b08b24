// Hides secrets in texts that other services sent.

/**
 * Minimum length of a hidden piece of a long secret. Shorter pieces reveal little, and common words would match by
 * chance.
 */
const PIECE = 8;
const LENGTH_MAX = 300;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const CONTROL = /[\u0000-\u001f\u007f]+/g;

/** Returns the text as one line of limited length, with `***` for every piece of a secret. */
export function conceal(text: string, secrets: readonly string[]): string {
  // Pieces must be hidden before the text is shortened to LENGTH_MAX. A piece that is cut off at the end would be too
  // short to be found.
  const shown = secrets.filter((secret) => secret !== '').reduce(hidePieces, text.slice(0, 4 * LENGTH_MAX));
  const line = shown.replace(CONTROL, ' ').trim();
  return line.length <= LENGTH_MAX ? line : `${line.slice(0, LENGTH_MAX)}…`;
}

function hidePieces(text: string, secret: string): string {
  const size = Math.min(PIECE, secret.length);
  let result = '';
  let shownUntil = 0;
  for (let start = 0; start + size <= text.length; start += 1) {
    if (!secret.includes(text.slice(start, start + size))) continue;
    let end = start + size;
    while (end < text.length && secret.includes(text.slice(end - size + 1, end + 1))) end += 1;
    result += `${text.slice(shownUntil, start)}***`;
    shownUntil = end;
    start = end - 1;
  }
  return result + text.slice(shownUntil);
}

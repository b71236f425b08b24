// Compares resourceVersions of one API server, which are decimal numbers of any length (KEP-5504).

const ZERO = 48;
const NINE = 57;

/** True if the text is a decimal number without leading zeros. */
export function isComparable(version: string | undefined): version is string {
  if (version === undefined || version === '' || version.startsWith('0')) return false;
  for (let index = 0; index < version.length; index += 1) {
    const code = version.charCodeAt(index);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
}

export function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

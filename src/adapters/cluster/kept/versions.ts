// Compares resource versions of one API server, which are decimal numbers of any length (KEP-5504).

const ZERO = 48;
const NINE = 57;

/** Whether the text is a version that can be compared with others. */
export function isComparable(version: string | undefined): version is string {
  if (version === undefined || version === '' || version.startsWith('0')) return false;
  for (let index = 0; index < version.length; index += 1) {
    const code = version.charCodeAt(index);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
}

/** Whether `a` is later than `b`. */
export function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

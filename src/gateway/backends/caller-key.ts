// Keys of callers: who calls, and the variant of the caller if headers of a client change what it sees.

/** Keys of callers are JSON or empty, so that none contains a line break of its own. */
const SEPARATOR = '\n';

/** Another key for the same caller: nothing that is kept for one variant is used for another. */
export function callerVariant(key: string, variant: string): string {
  return `${key}${SEPARATOR}${variant}`;
}

/** The caller without its variant. Limits count by it, so that more variants give nobody more room. */
export function callerOwner(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? key : key.slice(0, end);
}

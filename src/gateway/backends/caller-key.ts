// Builds keys of callers: the caller, and its variant if headers of a client change which data it sees.

/** Keys of callers are JSON or empty, so they contain no line breaks. */
const SEPARATOR = '\n';

/** Returns another key for the same caller: data of one variant is not used for another. */
export function callerVariant(key: string, variant: string): string {
  return `${key}${SEPARATOR}${variant}`;
}

/** Returns the caller without its variant. Limits count by it, so that more variants do not raise them. */
export function callerOwner(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? key : key.slice(0, end);
}

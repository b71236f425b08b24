// Builds keys of callers: the caller, and a variant if headers of the client change which data the caller sees.

/** Keys of callers are JSON or empty, so they contain no line breaks. */
const SEPARATOR = '\n';

/** Returns a key for one variant of the caller. Data of one variant is not used for another variant. */
export function callerVariant(key: string, variant: string): string {
  return `${key}${SEPARATOR}${variant}`;
}

/** Returns the caller without its variant. Limits count by owner, so that more variants do not raise a limit. */
export function callerOwner(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? key : key.slice(0, end);
}

// Builds keys of callers. A key consists of the caller and, if necessary, a variant. The variant stands for headers of
// the client that change which data the caller gets.

/** Allowed as separator, because keys of callers are empty or JSON without line breaks. */
const SEPARATOR = '\n';

/**
 * Returns the key for one variant of the caller. Data that is stored under one variant is not used for other variants.
 */
export function callerVariant(key: string, variant: string): string {
  return `${key}${SEPARATOR}${variant}`;
}

/** Returns the caller without the variant. Limits apply to the owner, so that more variants do not raise a limit. */
export function callerOwner(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? key : key.slice(0, end);
}

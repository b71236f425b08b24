// Decides whether a finding is about a value that is unknown without a cluster.

/**
 * Returns true if the pointer points to an unknown value, or to a part of the object with an unknown value. `unknown`
 * are pointers to unknown values.
 */
export function restsOnUnknown(pointer: string | undefined, unknown: readonly string[] = []): boolean {
  if (pointer === undefined) return false;
  return unknown.some((each) => each === pointer || each.startsWith(`${pointer}/`));
}

// Decides whether a finding is about a value that is unknown without a cluster.

/**
 * Returns true if the pointer is an unknown value, or a part of the object that contains one. `unknown` are pointers to
 * unknown values.
 */
export function restsOnUnknown(pointer: string | undefined, unknown: readonly string[] = []): boolean {
  if (pointer === undefined) return false;
  return unknown.some((each) => each === pointer || each.startsWith(`${pointer}/`));
}

// Finds findings about values that are unknown here.

/**
 * Returns true if a finding is about an unknown value, or about a part of the object that contains one. `unknown`
 * contains pointers to values.
 */
export function restsOnUnknown(pointer: string | undefined, unknown: readonly string[] = []): boolean {
  if (pointer === undefined) return false;
  return unknown.some((each) => each === pointer || each.startsWith(`${pointer}/`));
}

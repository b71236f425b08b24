// Distinguishes findings about values that are not known here from all others.

/**
 * `unknown`: pointers to values. A finding rests on a value if it is about the value, or about a part of the object
 * with the value in it.
 */
export function restsOnUnknown(pointer: string | undefined, unknown: readonly string[] = []): boolean {
  if (pointer === undefined) return false;
  return unknown.some((each) => each === pointer || each.startsWith(`${pointer}/`));
}

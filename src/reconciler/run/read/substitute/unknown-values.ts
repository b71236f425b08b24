// Distinguishes findings about values that are not known here from all others.

/** `unknown`: pointers to values. A finding about a value, or about a part of the object with the value in it, rests on it. */
export function restsOnUnknown(pointer: string | undefined, unknown: readonly string[] = []): boolean {
  if (pointer === undefined) return false;
  return unknown.some((each) => each === pointer || each.startsWith(`${pointer}/`));
}

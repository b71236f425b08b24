// Marks an evaluation that stopped because it asked for what only an API server knows.

let latest: { readonly reason: string } | undefined;

/**
 * Ends the evaluation, unless the rest of the expression decides without it: `&&`, `||` and quantifiers treat it as any
 * error. No error of the engine's own kind: those become "no value" where an optional field is selected.
 */
export function refuseUnevaluable(reason: string): never {
  latest = { reason };
  throw new Error(reason);
}

/**
 * Runs an evaluation and tells whether it met something that cannot be known, also where another error, which that might
 * have prevented, is what ended it.
 */
export function watched<T>(evaluation: () => T): { readonly result: T; readonly met: string | undefined } {
  const before = latest;
  const result = evaluation();
  return { result, met: latest === before ? undefined : latest?.reason };
}

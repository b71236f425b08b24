// Marks an evaluation that stopped because it needs a value that only an API server knows.

let latest: { readonly reason: string } | undefined;

/**
 * Ends the evaluation, unless the rest of the expression decides the result: `&&`, `||` and quantifiers treat this as
 * any error. It is not one of the engine's own errors, because those become "no value" when an optional field is
 * selected.
 */
export function refuseUnevaluable(reason: string): never {
  latest = { reason };
  throw new Error(reason);
}

/**
 * Runs an evaluation and returns whether it needed an unknown value, even if it ended with another error that the
 * unknown value might have prevented.
 */
export function watched<T>(evaluation: () => T): { readonly result: T; readonly met: string | undefined } {
  const before = latest;
  const result = evaluation();
  return { result, met: latest === before ? undefined : latest?.reason };
}

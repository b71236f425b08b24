// Marks evaluations that stopped because they need a value that only an API server knows.

let latest: { readonly reason: string } | undefined;

/**
 * Throws an error, which ends the evaluation unless `&&`, `||` or a quantifier ignores it. The error is not an engine
 * error: selecting an optional field turns engine errors into "no value".
 */
export function refuseUnevaluable(reason: string): never {
  latest = { reason };
  throw new Error(reason);
}

/**
 * Runs an evaluation. `met` is the reason of the last unknown value that the evaluation read, even if the evaluation
 * ended with another error. The unknown value might have prevented that error.
 */
export function watched<T>(evaluation: () => T): { readonly result: T; readonly met: string | undefined } {
  const before = latest;
  const result = evaluation();
  return { result, met: latest === before ? undefined : latest?.reason };
}

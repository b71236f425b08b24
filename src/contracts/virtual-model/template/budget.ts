// Limits the cost of running a template, because the authors of the template and of its data are not trusted.

const STOPPED = Symbol('template stopped');

/** Stops the running template. `stopMessage` recognizes the thrown error. */
export function stop(message: string): never {
  throw Object.assign(new Error(message), { [STOPPED]: true });
}

/** Returns the message that was given to `stop`, or undefined for any other error. */
export function stopMessage(error: unknown): string | undefined {
  return error instanceof Error && STOPPED in error ? error.message : undefined;
}

export interface Budget {
  /** Number of parts of the template that may still run. */
  steps: number;
  /** Number of characters that may still be created, even if they do not become part of the output. */
  characters: number;
  /** Number of calls of templates that may still be nested. */
  depth: number;
  /** Number of branches and loops that may still be nested, including branches and loops of called templates. */
  nested: number;
}

export function newBudget(): Budget {
  return { steps: 1_000_000, characters: 10 * 2 ** 20, depth: 100, nested: 2000 };
}

export function spendStep(budget: Budget): void {
  budget.steps -= 1;
  if (budget.steps < 0) stop('the template does not come to an end: it takes more than 1,000,000 steps');
}

/** Subtracts the length of the text from the budget, and returns the text. */
export function spendText(budget: Budget, text: string): string {
  budget.characters -= text.length;
  if (budget.characters < 0) stop('the template makes more than 10 MiB of text');
  return text;
}

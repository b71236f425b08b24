// Limits the cost of templates, because both templates and their data come from strangers.

const STOPPED = Symbol('template stopped');

/** Ends the template. The thrown error is for `stopMessage` only. */
export function stop(message: string): never {
  throw Object.assign(new Error(message), { [STOPPED]: true });
}

/** Returns why a template was ended, or undefined for any other error. */
export function stopMessage(error: unknown): string | undefined {
  return error instanceof Error && STOPPED in error ? error.message : undefined;
}

export interface Budget {
  /** Number of further parts of the template that may run. */
  steps: number;
  /** Number of further characters that may be created. Discarded characters count. */
  characters: number;
  /** Number of further nested calls of templates. */
  depth: number;
  /** Number of further nested branches and loops, including branches and loops of called templates. */
  nested: number;
}

/** Returns a budget for 10 MiB of output and templates 100 deep. */
export function newBudget(): Budget {
  return { steps: 1_000_000, characters: 10 * 2 ** 20, depth: 100, nested: 2000 };
}

export function spendStep(budget: Budget): void {
  budget.steps -= 1;
  if (budget.steps < 0) stop('the template does not come to an end: it takes more than 1,000,000 steps');
}

/** Spends the characters of the text, and returns it. */
export function spendText(budget: Budget, text: string): string {
  budget.characters -= text.length;
  if (budget.characters < 0) stop('the template makes more than 10 MiB of text');
  return text;
}

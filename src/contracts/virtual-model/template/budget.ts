// What a template may cost: templates and their data are written by strangers.

const STOPPED = Symbol('template stopped');

/** Ends the template; what is thrown is for `stopMessage` alone. */
export function stop(message: string): never {
  throw Object.assign(new Error(message), { [STOPPED]: true });
}

/** Why a template was ended; undefined for any other error. */
export function stopMessage(error: unknown): string | undefined {
  return error instanceof Error && STOPPED in error ? error.message : undefined;
}

export interface Budget {
  /** Parts of the template that may still be run. */
  steps: number;
  /** Characters that may still be made, those that are thrown away included. */
  characters: number;
  /** Templates that call one another. */
  depth: number;
  /** Branches and loops inside one another, those of called templates included. */
  nested: number;
}

/** 10 MiB of output, templates 100 deep. */
export function newBudget(): Budget {
  return { steps: 1_000_000, characters: 10 * 2 ** 20, depth: 100, nested: 2000 };
}

export function spendStep(budget: Budget): void {
  budget.steps -= 1;
  if (budget.steps < 0) stop('the template does not come to an end: it takes more than 1,000,000 steps');
}

/** Gives the text back. */
export function spendText(budget: Budget, text: string): string {
  budget.characters -= text.length;
  if (budget.characters < 0) stop('the template makes more than 10 MiB of text');
  return text;
}

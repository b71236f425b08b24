// Calculates the row of each step in the graph of a workflow.

interface StepDependencies {
  readonly id: string;
  readonly depends_on: readonly string[];
}

/**
 * Returns the length of the longest path to each step, by id. Terminates on cycles: a workflow with a cycle cannot run,
 * but the page may show it.
 */
export function levelsOf(steps: readonly StepDependencies[]): ReadonlyMap<string, number> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const levels = new Map<string, number>();
  function levelOf(id: string): number {
    const known = levels.get(id);
    if (known !== undefined) return known;
    // Ends the recursion if the step is part of a cycle.
    levels.set(id, 0);
    const level = Math.max(0, ...(byId.get(id)?.depends_on ?? []).map((each) => levelOf(each) + 1));
    levels.set(id, level);
    return level;
  }
  for (const { id } of steps) levelOf(id);
  return levels;
}

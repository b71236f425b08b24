// How far down in a graph each step of a workflow stands.

interface Waiting {
  readonly id: string;
  readonly depends_on: readonly string[];
}

/** By id, the longest way to it. A circle is refused before anything runs, and ends here all the same. */
export function levelsOf(steps: readonly Waiting[]): ReadonlyMap<string, number> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const levels = new Map<string, number>();
  function levelOf(id: string): number {
    const known = levels.get(id);
    if (known !== undefined) return known;
    // What a circle comes back to.
    levels.set(id, 0);
    const level = Math.max(0, ...(byId.get(id)?.depends_on ?? []).map((each) => levelOf(each) + 1));
    levels.set(id, level);
    return level;
  }
  for (const { id } of steps) levelOf(id);
  return levels;
}

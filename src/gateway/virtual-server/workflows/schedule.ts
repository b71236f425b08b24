// Finds the steps of a workflow that can start. A step starts when its dependencies are done, even if steps on which it
// does not depend still run.

export type StepStatus = 'pending' | 'running' | 'completed' | 'failed' | 'skipped';

interface StepDependencies {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/** Returns the steps in the order of the list. `most` is the maximum number of parallel steps. */
export function stepsToStart<T extends StepDependencies>(
  steps: readonly T[],
  statusOf: (id: string) => StepStatus,
  most: number,
): readonly T[] {
  const running = steps.filter(({ id }) => statusOf(id) === 'running').length;
  return steps
    .filter(({ id, dependsOn }) => statusOf(id) === 'pending' && dependsOn.every((name) => isDone(statusOf(name))))
    .slice(0, Math.max(0, most - running));
}

function isDone(status: StepStatus): boolean {
  return status !== 'pending' && status !== 'running';
}

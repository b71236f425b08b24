// Finds the dependencies between the steps of a workflow.

import { closest } from '#std/closest.ts';
import { problem, type WorkflowFinding, type WorkflowStep } from './workflow.ts';

export interface Dependencies {
  /**
   * The steps that must end before a step starts, by the id of the step. A step that is in its own set is part of a
   * cycle.
   */
  readonly before: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The number of steps in the longest chain before a step, by the id of the step. Steps in cycles and after cycles are
   * missing.
   */
  readonly levels: ReadonlyMap<string, number>;
  readonly findings: readonly WorkflowFinding[];
}

/** `pointer`: pointer of the list of steps. */
export function dependenciesOf(steps: readonly WorkflowStep[], pointer: string): Dependencies {
  const direct = directDependencies(steps);
  const before = new Map([...direct.keys()].map((id) => [id, reachable(id, direct)]));
  const findings = [...duplicateFindings(steps, pointer), ...unknownFindings(steps, direct, pointer)];
  return {
    before,
    levels: levelsOf(direct, before),
    findings: [...findings, ...cycleFindings(steps, direct, pointer)],
  };
}

type Direct = ReadonlyMap<string, readonly string[]>;

/** Returns the steps on which each step depends directly. If several steps have the same id, the first is used. */
function directDependencies(steps: readonly WorkflowStep[]): Direct {
  const ids = new Set(steps.map(({ id }) => id));
  const direct = new Map<string, readonly string[]>();
  for (const { id, dependsOn = [] } of steps) {
    if (!direct.has(id)) direct.set(id, [...new Set(dependsOn.filter((name) => ids.has(name)))]);
  }
  return direct;
}

function reachable(from: string, direct: Direct): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [...(direct.get(from) ?? [])];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    queue.push(...(direct.get(id) ?? []));
  }
  return found;
}

function levelsOf(direct: Direct, before: Dependencies['before']): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  const sound = [...direct.keys()].filter((id) =>
    [id, ...(before.get(id) ?? [])].every((each) => !before.get(each)?.has(each)),
  );
  // Sorts steps so that each step comes after all steps on which it depends.
  const ordered = sound.toSorted((a, b) => (before.get(a)?.size ?? 0) - (before.get(b)?.size ?? 0));
  for (const id of ordered)
    levels.set(id, Math.max(0, ...(direct.get(id) ?? []).map((name) => (levels.get(name) ?? 0) + 1)));
  return levels;
}

function duplicateFindings(steps: readonly WorkflowStep[], pointer: string): readonly WorkflowFinding[] {
  const first = new Map<string, number>();
  return steps.flatMap(({ id }, index) => {
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, index);
      return [];
    }
    const message = `the step ${id} is there already, as number ${earlier + 1} of the list: ids must be unique`;
    return [problem('workflow-step-duplicate', `${pointer}/${index}/id`, message)];
  });
}

function unknownFindings(steps: readonly WorkflowStep[], direct: Direct, pointer: string): readonly WorkflowFinding[] {
  return steps.flatMap(({ id, dependsOn = [] }, index) =>
    dependsOn.flatMap((name, place) => {
      if (direct.has(name)) return [];
      const message = `step ${id} depends on ${name}, which is not a step of the workflow${suggestion(name, direct.keys())}`;
      return [problem('workflow-dependency-unknown', `${pointer}/${index}/dependsOn/${place}`, message)];
    }),
  );
}

export function suggestion(name: string, candidates: Iterable<string>): string {
  const near = closest(name, candidates);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/**
 * Returns a finding for each cycle, at its first step in the list. Steps of a reported cycle are not reported again.
 */
function cycleFindings(steps: readonly WorkflowStep[], direct: Direct, pointer: string): readonly WorkflowFinding[] {
  const reported = new Set<string>();
  return steps.flatMap(({ id }, index) => {
    const trail = reported.has(id) ? undefined : cycleFrom(id, direct);
    if (trail === undefined) return [];
    for (const each of trail) reported.add(each);
    const names = [...trail, id].join(' -> ');
    const message = `the steps wait for one another and never start: ${names} (-> means: depends on)`;
    return [problem('workflow-dependency-cycle', `${pointer}/${index}/dependsOn`, message)];
  });
}

/** Returns the shortest path from a step back to itself. The path contains the step once. */
function cycleFrom(start: string, direct: Direct): readonly string[] | undefined {
  const queue: (readonly string[])[] = [[start]];
  const seen = new Set<string>();
  for (let trail = queue.shift(); trail !== undefined; trail = queue.shift()) {
    for (const next of direct.get(trail.at(-1) ?? '') ?? []) {
      if (next === start) return trail;
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push([...trail, next]);
    }
  }
  return undefined;
}

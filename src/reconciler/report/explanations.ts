// Renders why each object is changed or kept unchanged, as lines for people and as JSON.

import { formatId } from '#std/problem.ts';
import type { Explanation } from '../run/plan/explain.ts';

export function linesOfExplanations(explanations: readonly Explanation[]): string[] {
  return explanations.flatMap(({ resource, what, because, declared, owner }) => {
    const { file, line, column } = declared?.place ?? { file: '', line: 0, column: 0 };
    const of = owner === undefined ? '' : `child of ${formatId(owner)}, `;
    const where = `${of}declared at ${file}:${line}:${column} (source ${declared?.source})`;
    const unplaced = owner === undefined ? [] : [`child of ${formatId(owner)}`];
    const origin = declared === undefined ? unplaced : [where];
    return [`${formatId(resource)}: ${what}`, ...[...because, ...origin].map((each) => `  ${each}`)];
  });
}

export function jsonOfExplanation({ declared, ...rest }: Explanation): object {
  return { ...rest, declared: declared && { source: declared.source, ...declared.place } };
}

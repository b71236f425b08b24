// Local result and server's answer side by side, and which pairs are wrong.

import { normalise } from '#kubernetes/rules/normalise.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { type Comparison, compare } from '#kubernetes/rules/ownership/compare.ts';
import { canonicalJson } from '#std/json.ts';

/**
 * What the server would do: nothing, change only the entries of others, only what we own, the object; or refuse it.
 */
export type Answer = 'nothing' | 'others' | 'ownership' | 'object' | 'refused';

export interface Case {
  readonly kind: string;
  readonly number: number;
  /** What happened before. */
  readonly story: readonly string[];
  /** As it is written, not yet normalised. */
  readonly desired: KubeObject;
  readonly live: KubeObject;
  readonly answer: Answer;
}

export function localResult(desired: KubeObject, live: KubeObject, type: MergeType, manager: string): Comparison {
  return compare(normalise(desired, type), live, type, manager);
}

export function answerOf(live: KubeObject, after: KubeObject, manager: string): Answer {
  if (content(live) !== content(after)) return 'object';
  if (entries(live, (each) => each === manager) !== entries(after, (each) => each === manager)) return 'ownership';
  return entries(live, (each) => each !== manager) === entries(after, (each) => each !== manager)
    ? 'nothing'
    : 'others';
}

/** What someone else may have moved meanwhile, the status and its traces aside. */
export function content({ status: _status, metadata, ...rest }: KubeObject): string {
  const { managedFields: _m, resourceVersion: _r, generation: _g, ...kept } = metadata;
  return canonicalJson({ ...rest, metadata: kept });
}

/** They may write a status at any moment. */
const CONTROLLERS: ReadonlySet<string> = new Set(['kube-controller-manager']);

function entries({ metadata }: KubeObject, whose: (manager: string) => boolean): string {
  const chosen = (metadata.managedFields ?? []).filter(({ manager }) => whose(manager) && !CONTROLLERS.has(manager));
  return chosen
    .map(({ time: _, ...entry }) => canonicalJson(entry))
    .sort()
    .join('\n');
}

/** Undefined where the two agree; a result that asks the server is never wrong. */
export function wrong({ result }: Comparison, answer: Answer): string | undefined {
  if (result === 'unchanged')
    return answer === 'nothing' || answer === 'others' ? undefined : `unchanged, but ${answer}`;
  return result === 'changed' && answer === 'nothing' ? 'changed, but nothing' : undefined;
}

export interface Tally {
  readonly counts: Map<string, number>;
  add(result: Comparison['result'], answer: Answer): void;
  of(result: Comparison['result'], ...answers: readonly Answer[]): number;
}

const ANSWERS: readonly Answer[] = ['nothing', 'others', 'ownership', 'object', 'refused'];

export function openTally(): Tally {
  const counts = new Map<string, number>();
  return {
    counts,
    add: (result, answer) => {
      const key = `${result} ${answer}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of: (result, ...answers) => {
      const asked = answers.length === 0 ? ANSWERS : answers;
      return asked.reduce((sum, answer) => sum + (counts.get(`${result} ${answer}`) ?? 0), 0);
    },
  };
}

/** For people: a row for each result, a column for each answer. */
export function table(name: string, tally: Tally): string {
  const results = ['unchanged', 'changed', 'unknown'] as const;
  const head = [name, ...ANSWERS, 'sum'].map((cell, index) => (index === 0 ? cell.padEnd(34) : cell.padStart(10)));
  const rows = results.map((result) => {
    const cells = [...ANSWERS.map((answer) => tally.of(result, answer)), tally.of(result)];
    return [result.padEnd(34), ...cells.map((cell) => String(cell).padStart(10))].join('');
  });
  return [head.join(''), ...rows].join('\n');
}

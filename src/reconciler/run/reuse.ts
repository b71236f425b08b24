// Keeps results of pure work between the runs of a long-lived process. A result is reused only if all inputs of the
// work, and all objects that the work has read, are the same. The reads are recorded during the work, so that no list
// of dependencies has to be maintained.

import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { isLarge } from './observe/large-contents.ts';

/**
 * Functions through which the work reads other objects. A result must depend only on the arguments and on the objects.
 */
type Questions = Readonly<Record<string, (...words: string[]) => unknown>>;

interface Work<T, Q extends Questions> {
  readonly stage: string;
  /** Key of the object that the work is about. Each object has at most one result per stage. */
  readonly key: string;
  /** All inputs of the work. Inputs are the same only if they are identical (Object.is). */
  readonly given: readonly unknown[];
  readonly questions: Q;
  readonly work: (questions: Q) => T;
  /** Returns false for a result that must not be reused. If absent, every result may be reused. */
  readonly keeps?: (value: T) => boolean;
  readonly equal: (a: T, b: T) => boolean;
}

export interface Reuse {
  result<T, Q extends Questions>(work: Work<T, Q>): T;
}

/** Repeats all work in each run. */
export const NO_REUSE: Reuse = { result: ({ questions, work }) => work(questions) };

export interface KeptResults extends Reuse {
  /**
   * Repeats all work until the end of the run. Calls `differs` with the key of each object whose repeated result
   * differs from the result that would have been reused.
   */
  prove(differs: (stage: string, key: string) => void): void;
  /** Ends a run: drops results that the run has not used. */
  ended(): void;
}

interface ReusableResult {
  readonly given: readonly unknown[];
  readonly looks: readonly LookRecord[];
  readonly value: unknown;
}

interface LookRecord {
  readonly question: string;
  readonly words: readonly string[];
  readonly answer: unknown;
}

type Stages = Map<string, Map<string, ReusableResult>>;

interface ReuseState {
  before: Stages;
  now: Stages;
  differs: ((stage: string, key: string) => void) | undefined;
}

export function openReuse(): KeptResults {
  const state: ReuseState = { before: new Map(), now: new Map(), differs: undefined };
  return {
    result: (work) => reuseOrWork(state, work),
    prove(differs) {
      state.differs = differs;
    },
    ended() {
      state.differs = undefined;
      // A run that could not read the cluster did no work. It keeps all results.
      if (state.now.size === 0) return;
      state.before = state.now;
      state.now = new Map();
    },
  };
}

function reuseOrWork<T, Q extends Questions>(state: ReuseState, work: Work<T, Q>): T {
  const { stage, key, equal, keeps = () => true } = work;
  const results = stageResults(state.now, stage);
  const kept = results.get(key) ?? state.before.get(stage)?.get(key);
  const counts = kept !== undefined && isSame(kept, work);
  if (counts && state.differs === undefined) {
    results.set(key, kept);
    return kept.value as T;
  }
  const looks: LookRecord[] = [];
  const made = work.work(recorded(work.questions, looks));
  const isEqual = kept !== undefined && equal(kept.value as T, made);
  if (counts && !isEqual) state.differs?.(stage, key);
  // Returns the earlier result if the new result is equal, so that dependent work is not repeated.
  const value = isEqual ? (kept.value as T) : made;
  if (keeps(value)) results.set(key, { given: work.given, looks, value });
  else results.delete(key);
  return value;
}

function stageResults(stages: Stages, name: string): Map<string, ReusableResult> {
  const known = stages.get(name);
  if (known !== undefined) return known;
  const results = new Map<string, ReusableResult>();
  stages.set(name, results);
  return results;
}

function isSame<T, Q extends Questions>(kept: ReusableResult, { given, questions }: Work<T, Q>): boolean {
  return (
    kept.given.length === given.length &&
    kept.given.every((value, index) => Object.is(value, given[index])) &&
    kept.looks.every(({ question, words, answer }) => isSameAnswer(answer, questions[question]?.(...words)))
  );
}

function recorded<Q extends Questions>(questions: Q, looks: LookRecord[]): Q {
  const entries = Object.entries(questions).map(([question, ask]) => [
    question,
    (...words: string[]) => {
      const answer = ask(...words);
      looks.push({ question, words, answer: noted(answer) });
      return answer;
    },
  ]);
  return Object.fromEntries(entries);
}

function isSameAnswer(before: unknown, now: unknown): boolean {
  if (!isAnswers(before) || !isAnswers(now)) return Object.is(before, noted(now));
  return before.length === now.length && before.every((each, index) => Object.is(each, notedItem(now[index])));
}

function noted(answer: unknown): unknown {
  if (!isAnswers(answer)) return notedItem(answer);
  return answer.some((each) => notedItem(each) !== each) ? answer.map(notedItem) : answer;
}

/**
 * Returns a digest instead of a Secret, ConfigMap or pod, because these objects must not stay in memory. Each run reads
 * the objects again.
 */
function notedItem(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  return isLarge(answer) || isPod(answer) ? printOf(answer) : answer;
}

function isPod({ apiVersion, kind }: JsonObject): boolean {
  return apiVersion === 'v1' && kind === 'Pod';
}

const prints = new WeakMap<object, string>();

function printOf(object: object): string {
  const known = prints.get(object);
  if (known !== undefined) return known;
  const print = sha256(JSON.stringify(object));
  prints.set(object, print);
  return print;
}

function isAnswers(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

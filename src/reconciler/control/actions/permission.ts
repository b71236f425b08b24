// Decides whether a caller may carry out an action. A fact that is missing refuses.

import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import type { AnsweredCode } from '../answer.ts';
import type { Caller, PreparedAction } from '../ports.ts';

export interface Refusal {
  readonly code: AnsweredCode;
  readonly message: string;
}

/** Returns why the caller may not act at all. A login may end while an action waits for its turn. */
export function roleRefusal(caller: Pick<Caller, 'role' | 'holds'> | undefined): Refusal | undefined {
  if (caller?.holds?.() === false)
    return { code: 'control-unauthorized', message: 'your login has ended: log in again' };
  if (caller?.role === 'operator') return undefined;
  return { code: 'control-not-operator', message: 'your role is to read: actions need the role operator' };
}

/** Returns why the caller may not carry out this action. */
export function concernRefusal(
  { namespaces }: Pick<Caller, 'namespaces'>,
  { concerns }: Pick<PreparedAction, 'concerns'>,
): Refusal | undefined {
  if (namespaces === undefined) return undefined;
  const code = 'control-namespace-forbidden';
  const yours = namespaces.length === 0 ? 'no namespace' : namespaces.join(', ');
  if (concerns === 'instance')
    return { code, message: `the action concerns the whole instance, and you may act in ${yours}` };
  const globs = namespaces.map(parseGlob);
  const isYours = (namespace: string | undefined) =>
    namespace !== undefined && globs.some((glob) => glob !== undefined && globMatches(glob, namespace));
  const foreign = concerns.filter((each) => !isYours(each));
  // An action that names no object cannot be checked.
  if (concerns.length > 0 && foreign.length === 0) return undefined;
  const named = [...new Set(foreign.map((each) => each ?? 'no namespace'))].slice(0, 5).join(', ');
  return { code, message: `the action concerns objects of ${named || 'no namespace'}, and you may act in ${yours}` };
}

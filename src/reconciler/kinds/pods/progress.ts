// How far a resource is before anybody looks at its workloads: being deleted, held, failed.

import { refusalReason } from '../conditions.ts';
import type { Finding, Observed, Resource } from '../kind.ts';

/** What a status says first: the phase, and the condition Ready with its reason. */
export interface Progress<Phase> {
  readonly phase: Phase;
  readonly message: string;
  readonly ready: boolean;
  readonly reason: string;
}

/** The first that applies; undefined where the workloads say how far it is. `called`: as people call such a resource. */
export function setback(
  called: string,
  resource: Resource,
  { refusals, failures }: Pick<Observed, 'refusals' | 'failures'>,
): Progress<'Terminating' | 'Failed'> | undefined {
  if (resource.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Terminating', message: `${called} is being terminated`, ready: false, reason: 'Terminating' };
  }
  const [refusal] = refusals;
  if (refusal !== undefined) {
    return { phase: 'Failed', message: refusalMessage(refusals), ready: false, reason: refusalReason(refusal) };
  }
  if (failures.length === 0) return undefined;
  return { phase: 'Failed', message: failures.join('; '), ready: false, reason: 'ChildrenFailed' };
}

/** Why children are held, in sentences. */
export function refusalMessage(refusals: readonly Finding[]): string {
  const prefix = refusals[0]?.code === 'invalid-pod-template' ? 'Invalid PodTemplateSpec: ' : '';
  return prefix + refusals.map(({ message }) => message).join('; ');
}

// Computes the phases of a resource that do not depend on its workloads: Terminating and Failed.

import { refusalReason } from '../conditions.ts';
import type { Finding, Observed, Resource } from '../kind.ts';

/** Fields of a status: the phase with its message, and the condition Ready with its reason. */
export interface PhaseProgress<Phase> {
  readonly phase: Phase;
  readonly message: string;
  readonly ready: boolean;
  readonly reason: string;
}

/**
 * Returns the first phase that applies; undefined if the phase depends on the workloads. `called`: noun for the
 * resource in messages.
 */
export function setback(
  called: string,
  resource: Resource,
  { refusals, failures }: Pick<Observed, 'refusals' | 'failures'>,
): PhaseProgress<'Terminating' | 'Failed'> | undefined {
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

/** Returns the reasons why children are kept unchanged, as one message. */
export function refusalMessage(refusals: readonly Finding[]): string {
  const prefix = refusals[0]?.code === 'invalid-pod-template' ? 'Invalid PodTemplateSpec: ' : '';
  return prefix + refusals.map(({ message }) => message).join('; ');
}

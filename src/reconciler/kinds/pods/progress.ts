// Computes the phase of a resource that does not depend on its workloads: being deleted, kept unchanged, failed.

import { refusalReason } from '../conditions.ts';
import type { Finding, Observed, Resource } from '../kind.ts';

/** The first part of a status: the phase, and the condition Ready with its reason. */
export interface Progress<Phase> {
  readonly phase: Phase;
  readonly message: string;
  readonly ready: boolean;
  readonly reason: string;
}

/**
 * Returns the first phase that applies; undefined if the workloads decide. `called`: noun for the resource in messages.
 */
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

/** Returns the reasons why children are kept unchanged, as sentences. */
export function refusalMessage(refusals: readonly Finding[]): string {
  const prefix = refusals[0]?.code === 'invalid-pod-template' ? 'Invalid PodTemplateSpec: ' : '';
  return prefix + refusals.map(({ message }) => message).join('; ');
}

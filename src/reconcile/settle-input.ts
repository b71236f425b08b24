// What settling starts from: how a run left its resources. Knows nothing about what a status says.

import { groupOf, keyOf } from '../kube/object.ts';
import { formatId, type ResourceId } from '../std/problem.ts';
import type { Outcome } from './apply.ts';
import type { Plan } from './plan.ts';
import type { Prepared } from './prepare.ts';
import type { RunOptions } from './reconcile.ts';
import type { Kept, SettleInput } from './settle.ts';

export function settleInput(options: RunOptions, prepared: Prepared, outcomes: readonly Outcome[]): SettleInput {
  const childErrors = new Map<string, string[]>();
  function note(owner: ResourceId | undefined, message: string): void {
    if (owner === undefined) return;
    const key = keyOf(owner);
    childErrors.set(key, [...(childErrors.get(key) ?? []), message]);
  }
  // Children that are held because somebody else has them: their owner's status says so.
  for (const { resource, message } of prepared.desires.problems) note(resource, message);
  for (const { owner, resource, error } of outcomes) {
    if (error !== undefined) note(owner, `${formatId(resource)}: ${error.message}`);
  }
  const { resolved, registries, plan } = prepared;
  const { standings } = resolved;
  const kept = keptOf(options, plan);
  return { standings, childErrors, kept, catalogue: registries.states, statuses: options.children ? 'ours' : 'theirs' };
}

function keptOf({ kinds, apiGroup }: RunOptions, { held }: Plan): Kept[] {
  return held.flatMap(({ resource: id, reason, referredTo }) => {
    const ours = referredTo === true && groupOf(id.apiVersion) === apiGroup;
    const kind = ours ? kinds.find((each) => each.kind === id.kind) : undefined;
    return kind === undefined ? [] : [{ id, kind, reason }];
  });
}

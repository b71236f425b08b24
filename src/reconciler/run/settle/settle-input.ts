// Collects the input for writing statuses after the changes of a run.

import { groupOf, keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { TokenIssuer } from '../../kinds/kind.ts';
import type { ChangeOutcome } from '../apply/apply.ts';
import type { RegistryResults } from '../catalogue/registries.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import type { OwnKinds, Permissions } from '../instance.ts';
import type { Plan } from '../plan/plan.ts';
import type { Resolved } from '../resolve/resolve.ts';
import type { Reuse } from '../reuse.ts';
import type { BlockedDeletion, SettleInput } from './settle.ts';

interface Applied {
  readonly resolved: Resolved;
  readonly registries: Pick<RegistryResults, 'states' | 'unreadable'>;
  readonly desires: Pick<OwnDesires, 'problems' | 'ofOthers'>;
  readonly plan: Pick<Plan, 'held'>;
  readonly awaiting: ReadonlySet<string>;
}

export function settleInput(
  options: OwnKinds & Pick<Permissions, 'children'>,
  prepared: Applied,
  outcomes: readonly ChangeOutcome[],
  tokenIssuer: TokenIssuer | undefined,
  reuse: Reuse | undefined,
): SettleInput {
  const childErrors = new Map<string, string[]>();
  function note(owner: ResourceId | undefined, message: string): void {
    if (owner === undefined) return;
    const key = keyOf(owner);
    childErrors.set(key, [...(childErrors.get(key) ?? []), message]);
  }
  // The status of a resource also reports children that belong to another owner.
  for (const { resource, message } of prepared.desires.problems) note(resource, message);
  for (const { owner, resource, error } of outcomes) {
    // A change that is not in the plan file was not attempted, so the child is unchanged.
    if (error !== undefined && error.code !== 'plan-other') note(owner, `${formatId(resource)}: ${error.message}`);
  }
  const { resolved, registries, plan } = prepared;
  const { desires, awaiting } = prepared;
  // If a resource is kept unchanged because its source waits, its status must not report on the new manifest.
  const standings = resolved.standings.filter(
    ({ loaded: { id } }) => !desires.ofOthers.has(keyOf(id)) && !awaiting.has(keyOf(id)),
  );
  const kept = keptOf(options, plan);
  const { states: catalogue, unreadable: storeFailures } = registries;
  const statuses = options.children ? 'ours' : 'theirs';
  return { standings, childErrors, kept, catalogue, storeFailures, tokenIssuer, statuses, reuse };
}

function keptOf({ kinds, apiGroup }: OwnKinds, { held }: Applied['plan']): BlockedDeletion[] {
  return held.flatMap(({ resource: id, reason, referredTo }) => {
    const ours = referredTo === true && groupOf(id.apiVersion) === apiGroup;
    const kind = ours ? kinds.find((each) => each.kind === id.kind) : undefined;
    return kind === undefined ? [] : [{ id, kind, reason }];
  });
}

// Determines the impact of a change on clients: endpoints, tools, tokens, registries, restarts. Compares the state of
// the fleet before the change with the state after the change.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Kind } from '../../kinds/kind.ts';
import { entriesReader } from '../catalogue/declared-entries.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Change, Plan } from '../plan/plan.ts';
import type { Resolved } from '../resolve/resolve.ts';
import { type DefinitionsImpact, definitionImpacts, sortImpacts } from './definitions.ts';
import { type EndpointImpact, endpointImpacts } from './endpoints.ts';
import { gatherFleet, openFleet } from './fleet.ts';
import { type RegistryImpact, registryImpacts } from './registries.ts';
import { type Restart, restartsOf } from './restarts.ts';
import { statesOf } from './states.ts';

export interface ImpactInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** Custom resources with their defaults, and the objects that they refer to. */
  readonly before: readonly KubeObject[];
  readonly after: readonly KubeObject[];
  readonly changes: readonly Change[];
  /** Present if two commits are compared. If absent, definitions are read from the configurations of proxies. */
  readonly definitions?: readonly DefinitionsImpact[];
}

/** Effects that clients notice. Each list is sorted by id. */
export interface Impact {
  readonly endpoints: readonly EndpointImpact[];
  readonly registries: readonly RegistryImpact[];
  readonly restarts: readonly Restart[];
  /** Reviewed tool definitions that the change replaces by other definitions. */
  readonly definitions: readonly DefinitionsImpact[];
}

export function impactOf({ kinds, apiGroup, before, after, changes, definitions }: ImpactInput): Impact {
  // One reader for both states, so that an unchanged ConfigMap is parsed once.
  const read = entriesReader();
  const was = gatherFleet({ kinds, apiGroup, objects: before, read });
  const is = gatherFleet({ kinds, apiGroup, objects: after, read });
  const fleets = { before: openFleet(was, is.known), after: openFleet(is, was.known) };
  return {
    endpoints: endpointImpacts(fleets),
    registries: registryImpacts(fleets),
    restarts: restartsOf(changes),
    definitions: sortImpacts(definitions ?? definitionImpacts(changes, before)),
  };
}

interface PlannedFrom {
  readonly snapshot: Pick<Snapshot, 'objects'>;
  readonly resolved: Pick<Resolved, 'standings'>;
  readonly desires: Pick<OwnDesires, 'objects'>;
}

export function impactOfPlan(
  options: Pick<ImpactInput, 'kinds' | 'apiGroup'>,
  { snapshot, resolved, desires }: PlannedFrom,
  plan: Plan,
): Impact {
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const living = snapshot.objects();
  const states = statesOf({ living, standings: resolved.standings, desired: desires.objects, changes });
  return impactOf({ ...options, ...states, changes });
}

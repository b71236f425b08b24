// What a change means for those who use what is deployed: endpoints, tools, tokens, registries, restarts. Compares two
// states of a fleet, as it is and as it would be. Pure; knows nothing about clusters, Git or how it is printed.

import type { Kind } from '../../kinds/kind.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Change } from '../plan.ts';
import { type EndpointImpact, endpointImpacts } from './endpoints.ts';
import { openFleet } from './fleet.ts';
import { type RegistryImpact, registryImpacts } from './registries.ts';
import { type Restart, restartsOf } from './restarts.ts';

export interface ImpactInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** Custom resources with their defaults, and what they name. */
  readonly before: readonly KubeObject[];
  readonly after: readonly KubeObject[];
  readonly changes: readonly Change[];
}

/** Only what differs; each list by id. */
export interface Impact {
  readonly endpoints: readonly EndpointImpact[];
  readonly registries: readonly RegistryImpact[];
  readonly restarts: readonly Restart[];
}

export function impactOf({ kinds, apiGroup, before, after, changes }: ImpactInput): Impact {
  const fleets = {
    before: openFleet({ kinds, apiGroup, objects: before }),
    after: openFleet({ kinds, apiGroup, objects: after }),
  };
  return { endpoints: endpointImpacts(fleets), registries: registryImpacts(fleets), restarts: restartsOf(changes) };
}

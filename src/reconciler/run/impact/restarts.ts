// Finds workloads whose pods a change replaces.

import { formatId, type ResourceId } from '#std/problem.ts';
import type { Change } from '../plan/plan.ts';

export interface Restart {
  readonly resource: ResourceId;
  /** Custom resource that owns the workload; absent for a workload that Git declares. */
  readonly owner?: ResourceId;
}

const WORKLOADS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/** Returns the restarts, sorted by id. New and deleted workloads are not restarts. */
export function restartsOf(changes: readonly Change[]): readonly Restart[] {
  return changes
    .flatMap((change): Restart[] => {
      if (change.action !== 'update' || !WORKLOADS.has(change.resource.kind)) return [];
      const replaced = change.diff.some(({ path }) => path === '/spec/template' || path.startsWith('/spec/template/'));
      const owner = change.owner === undefined ? {} : { owner: change.owner };
      return replaced ? [{ resource: change.resource, ...owner }] : [];
    })
    .toSorted((a, b) => (formatId(a.resource) < formatId(b.resource) ? -1 : 1));
}

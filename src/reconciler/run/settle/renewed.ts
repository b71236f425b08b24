// Makes computed statuses visible in views before they are written. The health of a virtual server then follows the
// current state of its backends.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, View } from '../../kinds/kind.ts';
import { levels } from '../plan/levels.ts';

export interface Renewed {
  add(id: ResourceId, status: JsonObject): void;
  /** Returns the view with the computed statuses instead of the live statuses. */
  over(view: View, namespace: string): View;
}

export function startRenewing(): Renewed {
  const found = new Map<string, Map<string, JsonObject>>();
  const lists = new Map<string, { readonly size: number; readonly objects: readonly KubeObject[] }>();

  function renewed(object: KubeObject, statuses: ReadonlyMap<string, JsonObject>): KubeObject {
    const status = statuses.get(object.metadata.name);
    return status === undefined ? object : { ...object, status };
  }

  function listOf(view: View, kind: string, bucket: string): readonly KubeObject[] {
    const statuses = found.get(bucket);
    if (statuses === undefined) return view.all(kind);
    const known = lists.get(bucket);
    if (known?.size === statuses.size) return known.objects;
    const objects = view.all(kind).map((object) => renewed(object, statuses));
    lists.set(bucket, { size: statuses.size, objects });
    return objects;
  }

  return {
    add({ namespace = '', kind, name }, status) {
      const bucket = `${namespace}/${kind}`;
      const statuses = found.get(bucket) ?? new Map<string, JsonObject>();
      found.set(bucket, statuses.set(name, status));
    },
    over: (view, namespace) => ({
      find(kind, name) {
        const object = view.find(kind, name);
        const statuses = found.get(`${namespace}/${kind}`);
        return object === undefined || statuses === undefined ? object : renewed(object, statuses);
      },
      all: (kind) => listOf(view, kind, `${namespace}/${kind}`),
      pods: view.pods,
    }),
  };
}

/**
 * Sorts resources by the level of their kind, because statuses of later kinds read statuses of earlier kinds. Otherwise
 * keeps the order.
 */
export function inOrder<T extends { readonly loaded: { readonly kind?: Kind } }>(
  standings: readonly T[],
): readonly T[] {
  const kinds = new Set(standings.flatMap(({ loaded }) => (loaded.kind === undefined ? [] : [loaded.kind])));
  const level = levels([...kinds]);
  const of = ({ loaded }: T) => level.get(loaded.kind?.kind ?? '') ?? 0;
  return standings.toSorted((a, b) => of(a) - of(b));
}

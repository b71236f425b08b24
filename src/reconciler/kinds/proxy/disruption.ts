// Renders PodDisruptionBudgets, which limit how many pods of a workload may be evicted at once.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { View } from '../kind.ts';

interface Guarded {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: Readonly<Record<string, string>>;
}

/** Returns no budget for a single pod: a budget would either forbid its eviction or have no effect. */
export function disruptionBudget(replicas: number | undefined, guarded: Guarded): readonly KubeObject[] {
  if (replicas === undefined || replicas < 2) return [];
  const { name, namespace, labels, selector } = guarded;
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace, labels: { ...labels } },
      spec: { maxUnavailable: 1, selector: { matchLabels: { ...selector } } },
    },
  ];
}

/** Returns the declared number of pods, or the live number if another controller sets it. */
export function desiredReplicas(
  written: number | undefined,
  view: View,
  kind: 'Deployment' | 'StatefulSet',
  name: string,
): number | undefined {
  if (written !== undefined) return written;
  const live = view.find(kind, name)?.spec;
  return isObject(live) && typeof live.replicas === 'number' ? live.replicas : undefined;
}

// Finds the programs that this machine runs instead of a pod's images.

import { isObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { asOwner, type Owner } from '../controllers/owners.ts';
import { asPod, type PodSpec } from './objects.ts';
import type { FindProgram, ImageProgram } from './ports.ts';

export type Programs = ReadonlyMap<string, ImageProgram>;

/** Returns undefined if this machine does not run the pod. */
export function programsOf(find: FindProgram, spec: PodSpec, owners: readonly Owner[]): Programs | undefined {
  if (whyAbsent(find, spec, owners) !== undefined) return undefined;
  const found = spec.containers.map((container) => [container.name, find(container, spec, owners)] as const);
  return new Map(found.flatMap(([name, program]) => ('absent' in program ? [] : [[name, program] as const])));
}

/**
 * Returns the reason why this machine does not run the workload's pods. undefined if it runs the pods. `owners` is the
 * chain of controllers of the workload.
 */
export function whyWorkloadAbsent(
  find: FindProgram,
  workload: KubeObject,
  owners: readonly Owner[],
): string | undefined {
  const template = isObject(workload.spec) ? workload.spec.template : undefined;
  const { spec } = asPod({ spec: isObject(template) ? template.spec : undefined });
  return spec === undefined ? 'it has no pod template' : whyAbsent(find, spec, [asOwner(workload), ...owners]);
}

function whyAbsent(find: FindProgram, spec: PodSpec, owners: readonly Owner[]): string | undefined {
  if ((spec.initContainers ?? []).length > 0) return 'pods with init containers do not run here';
  return spec.containers
    .map((container) => find(container, spec, owners))
    .flatMap((program) => ('absent' in program ? [program.absent] : []))
    .at(0);
}

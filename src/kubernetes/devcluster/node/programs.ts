// Finds the programs that run in place of a pod's images on this machine.

import { isObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { asOwner, type Owner } from '../controllers/owners.ts';
import { asPod, type PodSpec } from './objects.ts';
import type { FindProgram, Program } from './ports.ts';

/** The program of each container of a pod, by the name of the container. */
export type Programs = ReadonlyMap<string, Program>;

/** Returns undefined if the pod does not run here. */
export function programsOf(find: FindProgram, spec: PodSpec, owners: readonly Owner[]): Programs | undefined {
  if (whyAbsent(find, spec, owners) !== undefined) return undefined;
  const found = spec.containers.map((container) => [container.name, find(container, spec, owners)] as const);
  return new Map(found.flatMap(([name, program]) => ('absent' in program ? [] : [[name, program] as const])));
}

/**
 * Returns why pods of the workload's template do not run here, or undefined if they run here. `owners` are the
 * controllers of the workload.
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

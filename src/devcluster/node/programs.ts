// What a pod's images stand for on this machine. Knows nothing about processes.

import type { PodSpec } from './objects.ts';
import type { FindProgram, Program } from './ports.ts';

/** What is run in place of each image of the pod, by the name of the container. */
export type Programs = ReadonlyMap<string, Program>;

/** Undefined: the pod does not run here. */
export function programsOf(find: FindProgram, spec: PodSpec): Programs | undefined {
  if (whyAbsent(find, spec) !== undefined) return undefined;
  const found = spec.containers.map((container) => [container.name, find(container, spec)] as const);
  return new Map(found.flatMap(([name, program]) => ('absent' in program ? [] : [[name, program] as const])));
}

/** Why the pod does not run here; undefined: it does. */
export function whyAbsent(find: FindProgram, spec: PodSpec): string | undefined {
  if ((spec.initContainers ?? []).length > 0) return 'pods with init containers do not run here';
  return spec.containers
    .map((container) => find(container, spec))
    .flatMap((program) => ('absent' in program ? [program.absent] : []))
    .at(0);
}

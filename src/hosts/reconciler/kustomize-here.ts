// Runs the program of this machine that builds kustomizations: within the memory of the container, and two builds at a
// time.

import { createLimiter } from '#adapters/cluster/limiter.ts';
import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';

const GIB = 1024 ** 3;
/** Share of the container's memory for one build, so that two builds and the process itself have room. */
const SHARE = 1 / 4;
const AT_ONCE = 2;

/** Limit that the builders of all sources share. */
const places = createLimiter(AT_ONCE);

/** Returns a builder that searches the program on the PATH at each use. `temporary`: folder for files of a build. */
export function kustomizeHere(temporary: string): KustomizeBuilder {
  const memoryBytes = memoryOfBuild(process.constrainedMemory());
  const builder = createKustomize({
    searchPath: process.env.PATH ?? '',
    temporary,
    now: Date.now,
    limits: { memoryBytes },
  });
  return {
    ...builder,
    build: (...input) =>
      places.run(
        () => builder.build(...input),
        () => false,
      ),
  };
}

/**
 * Returns the memory limit of a build: Kubernetes ends a container that exceeds its limit, with all its processes.
 * `constrained`: limit of the container; 0 if no limit is known.
 */
export function memoryOfBuild(constrained: number): number {
  return constrained === 0 ? GIB : Math.min(GIB, Math.floor(constrained * SHARE));
}

// Runs the program of this machine that builds kustomizations: within the memory of the container, and two builds at a
// time.

import { createLimiter } from '#adapters/cluster/limiter.ts';
import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';

const GIB = 1024 ** 3;
/** Share of the container's memory for one build, so that two builds and the process itself have room. */
const SHARE = 1 / 4;
const AT_ONCE = 2;

/** Shared by all sources, each of which has its own builder. */
const places = createLimiter(AT_ONCE);

/** Searches the program on the PATH at each use. `temporary`: folder for files that a build needs. */
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
 * Kubernetes ends a container that exceeds its memory limit, with all its processes. `constrained` is 0 if no limit is
 * known.
 */
export function memoryOfBuild(constrained: number): number {
  return constrained === 0 ? GIB : Math.min(GIB, Math.floor(constrained * SHARE));
}

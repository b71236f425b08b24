// Runs the program kustomize of this machine, within the memory of the container, and at most two builds at a time.

import { createLimiter } from '#adapters/cluster/limiter.ts';
import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';

const GIB = 1024 ** 3;
/** Share of the container's memory for one build. Two builds then leave half of the memory for the process. */
const SHARE = 1 / 4;
const AT_ONCE = 2;

/** Limit for all sources together. */
const places = createLimiter(AT_ONCE);

/** Returns a builder that searches kustomize on the PATH at each use. `temporary`: folder for files of builds. */
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
 * Returns the memory limit of a build in bytes, because Kubernetes kills a container that exceeds its limit.
 * `constrained`: limit of the container, or 0 if unknown.
 */
export function memoryOfBuild(constrained: number): number {
  return constrained === 0 ? GIB : Math.min(GIB, Math.floor(constrained * SHARE));
}

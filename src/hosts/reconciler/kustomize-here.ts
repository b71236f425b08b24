// The program of this machine that builds kustomizations: within the memory of the container, and two builds at a time.

import { createLimiter } from '#adapters/cluster/limiter.ts';
import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';

const GIB = 1024 ** 3;
/** A build gets this part of the memory of the container, so that two builds and the process itself have room in it. */
const SHARE = 1 / 4;
const AT_ONCE = 2;

/** Of all sources: each has a builder of its own. */
const places = createLimiter(AT_ONCE);

/** It is looked for on the PATH at each use. `temporary`: folder for files that a build needs. */
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

/** A container that takes more memory than its limit is ended with all its processes. `constrained` is 0 if no limit is known. */
export function memoryOfBuild(constrained: number): number {
  return constrained === 0 ? GIB : Math.min(GIB, Math.floor(constrained * SHARE));
}

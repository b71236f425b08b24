// The program of this machine that builds kustomizations.

import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';

/** It is looked for on the PATH at each use. `temporary`: folder for files that a build needs. */
export function kustomizeHere(temporary: string): KustomizeBuilder {
  return createKustomize({ searchPath: process.env.PATH ?? '', temporary, now: Date.now });
}

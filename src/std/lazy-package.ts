// Loads packages on first use, because loading a package takes longer than most commands run.

import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** Returns a function that loads the package synchronously: `lazyPackage<typeof import('yaml')>('yaml')`. */
export function lazyPackage<T>(name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= load(name) as T;
    return loaded;
  };
}

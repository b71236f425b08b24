// Packages that take longer to load than most commands need them: loaded when they are first used.

import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** For packages that load at once, without `await`: `lazyPackage<typeof import('yaml')>('yaml')`. */
export function lazyPackage<T>(name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= load(name) as T;
    return loaded;
  };
}

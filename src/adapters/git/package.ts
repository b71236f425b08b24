// Loads the package `isomorphic-git` when a repository is first read or written.

import { lazyPackage } from '#std/lazy-package.ts';

export const gitPackage = lazyPackage<typeof import('isomorphic-git')>('isomorphic-git');

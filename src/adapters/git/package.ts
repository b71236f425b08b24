// The package `isomorphic-git`, loaded where a repository is first read or written. Knows nothing about either.

import { lazyPackage } from '#std/lazy-package.ts';

export const gitPackage = lazyPackage<typeof import('isomorphic-git')>('isomorphic-git');

// Loads the package `pg` with the first connection.

import { lazyPackage } from '#std/lazy-package.ts';

export const pgPackage = lazyPackage<typeof import('pg')>('pg');

// The package `pg`, loaded with the first connection. Knows nothing about schemas and rows.

import { lazyPackage } from '#std/lazy-package.ts';

export const pgPackage = lazyPackage<typeof import('pg')>('pg');

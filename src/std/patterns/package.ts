// Loads the engine for regular expressions on first use. Loading takes 5 ms.

import { lazyPackage } from '../lazy-package.ts';

export const re2js = lazyPackage<typeof import('re2js')>('re2js');

// Preloaded into a process (`--import`): at its end it prints whether V8 compiles wrappers of what WebAssembly calls.

import { hasCompiledWrapper } from './compiled-wrapper.ts';

process.on('exit', () => process.stdout.write(`compiled: ${hasCompiledWrapper()}\n`));

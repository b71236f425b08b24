#!/usr/bin/env node
// The executable: starts the command line. Knows nothing else.

import { runCommandLine } from './main/command-line.ts';

await runCommandLine(process.argv);

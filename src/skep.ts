#!/usr/bin/env node
// The executable: starts the command line where this Node can run it.

const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `skep needs Node ${NEEDED} or newer, and this is ${process.version}. ` +
      'A checkout brings its own: node_modules/.bin/node dist/skep.js\n',
  );
  process.exit(64);
}

// Not static imports: an older Node would fail at words it does not know before it says so.
const { setFlagsFromString } = await import('node:v8');
const { LOADED_BEFORE, saveMemory, V8_FLAGS } = await import('#hosts/v8-flags.ts');
await Promise.all(LOADED_BEFORE.map((name) => import(name)));
// Before anything of ours is compiled: code that was kept under other flags is compiled again.
for (const flag of V8_FLAGS) setFlagsFromString(flag);
saveMemory();
const { enableCompileCache } = await import('node:module');
enableCompileCache();
const { runCommandLine } = await import('#cli/command-line.ts');
await runCommandLine(process.argv);

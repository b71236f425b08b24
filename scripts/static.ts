// `npm run static`: types, lint and format, dead code, generated files, house rules, full folders, words, build. Stops at nothing,
// reports all.

import { spawnSync } from 'node:child_process';

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const STEPS: readonly Step[] = [
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types of the page', command: ['tsc', '-p', 'src/registry/page/browser'] },
  { name: 'types of the page of runs', command: ['tsc', '-p', 'src/reconciler/control/page/browser'] },
  { name: 'lint and format', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'generated files are committed', command: ['node', 'scripts/generate.ts', '--check'] },
  {
    name: 'house rules: imports, long files and functions, names',
    command: ['vitest', 'run', 'test/architecture.test.ts', '--coverage.enabled=false', '--reporter=dot'],
  },
  { name: 'folders that hold too many files', command: ['node', 'scripts/folders.ts'] },
  { name: 'words that make sentences hard to read', command: ['node', 'scripts/words.ts'] },
  { name: 'build', command: ['node', 'scripts/build.ts'] },
];

const failed = STEPS.filter(({ name, command: [program, ...args] }) => {
  process.stdout.write(`\n== ${name}: ${program} ${args.join(' ')}\n`);
  return spawnSync(program, args, { stdio: 'inherit' }).status !== 0;
});

process.stdout.write(
  failed.length === 0 ? '\nstatic: all passed\n' : `\nstatic: failed: ${failed.map(({ name }) => name).join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

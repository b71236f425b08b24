// Fails if TypeScript files differ from a revision in more than comments, or if there are others: a commit that improves the words changes nothing else.
// `node scripts/same-code.ts REVISION [PATH...]` compares the working tree; `--texts` also lets texts of several words differ,
// `--names` also lets names differ if each old name has the same new name in the whole file.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { texts: { type: 'boolean', default: false }, names: { type: 'boolean', default: false } },
});
const [revision = 'HEAD', ...paths] = positionals;

/** Fields of syntax nodes that say where a node is, or how its text is written. */
const POSITIONS = new Set(['start', 'end', 'range', 'loc', 'raw', 'parent']);

type Different = (before: unknown, after: unknown) => boolean;

const within = ['--', ...(paths.length === 0 ? ['.'] : paths)];
const tracked = git('diff', '--name-status', '--no-renames', revision, ...within).split('\n');
const untracked = git('ls-files', '--others', '--exclude-standard', ...within).split('\n');
const changed = [...tracked, ...untracked.map((path) => `A\t${path}`)]
  .map((line) => ({ status: line.slice(0, 1), path: line.slice(2) }))
  .filter(({ path }) => path.endsWith('.ts'));

for (const { status, path } of changed) {
  if (status !== 'M') {
    process.stderr.write(`${path}: the file was added, deleted or renamed since ${revision}\n`);
    process.exitCode = 1;
    continue;
  }
  const before = parseSync(path, git('show', `${revision}:${path}`)).program;
  const after = parseSync(path, readFileSync(`${ROOT}${path}`, 'utf8')).program;
  const difference = firstDifference(before, after, nameChanges());
  if (difference === undefined) continue;
  process.stderr.write(`${path}:${lineAt(path, difference)}: the code differs from ${revision}\n`);
  process.exitCode = 1;
}
process.stdout.write(`${changed.length} changed files compared with ${revision}\n`);

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** Returns a function that says whether two names differ; it remembers which new name each old name has. */
function nameChanges(): Different {
  const known = new Map<unknown, unknown>();
  const used = new Map<unknown, unknown>();
  return (before, after) => {
    if (!options.names) return before !== after;
    const isSame = (known.get(before) ?? after) === after && (used.get(after) ?? before) === before;
    known.set(before, after);
    used.set(after, before);
    return !isSame;
  };
}

/** Returns the offset in the new text of the first node that differs. */
function firstDifference(before: unknown, after: unknown, differ: Different, offset = 0): number | undefined {
  if (!isObject(before) || !isObject(after)) {
    const areTexts = options.texts && isSentence(before) && isSentence(after);
    return before === after || areTexts ? undefined : offset;
  }
  const at = typeof after.start === 'number' ? after.start : offset;
  const isName = before.type === 'Identifier' && after.type === 'Identifier';
  if (isName && differ(before.name, after.name)) return at;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (POSITIONS.has(key) || (isName && key === 'name')) continue;
    const difference = firstDifference(before[key], after[key], differ, at);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isSentence(value: unknown): boolean {
  return typeof value === 'string' && /[a-z]+ [a-z]+/.test(value);
}

function lineAt(path: string, offset: number): number {
  return readFileSync(`${ROOT}${path}`, 'utf8').slice(0, offset).split('\n').length;
}

// Compares the generated files before and after they were generated, and finds those that Git does not track.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders and files that `npm run generate` writes. A folder belongs to it as a whole. */
const GENERATED = [
  'manifests/crds',
  'manifests/chart',
  'manifests/fleet/schema.json',
  'docs/kinds',
  'docs/schemas',
  'docs/outputs/history.json',
  'docs/outputs/status.json',
  'docs/errors.md',
  'docs/metrics.md',
  'docs/decisions/README.md',
  'docs/configuration.md',
] as const;

export type GeneratedPath = (typeof GENERATED)[number];

/** Content by path. */
type Snapshot = ReadonlyMap<string, string>;

/** The generated files as they are on disk. */
export function readGenerated(root: string): Snapshot {
  const files = GENERATED.flatMap((path) => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isFile()) return [join(root, path)];
    if (stats === undefined) return [];
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  });
  return new Map(files.map((file) => [relative(root, file), readFileSync(file, 'latin1')]));
}

/** Generated files that Git does not know. Without Git, as in an unpacked archive, none. */
export function untrackedGenerated(root: string): readonly string[] {
  const args = ['ls-files', '--others', '--exclude-standard', '--', ...GENERATED];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((path) => path !== '') : [];
}

/** Lines for a person; empty if generating changed nothing and Git has every file. */
export function generatedProblems(before: Snapshot, after: Snapshot, untracked: readonly string[]): readonly string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const differing = paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === now) return [];
    return `${path} ${old === undefined ? 'was missing' : now === undefined ? 'is no longer generated' : 'was out of date'}`;
  });
  const unknown = untracked
    .filter((path) => after.has(path) && before.has(path))
    .map((path) => `${path} is not in Git`);
  const problems = [...differing, ...unknown];
  return problems.length === 0 ? [] : [...problems, 'These files are now as the code says: commit them.'];
}

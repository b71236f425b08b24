// `skep validate` of a large folder as a whole process, beside one that only reads and parses the same files with js-yaml:
// with nothing remembered, and again with nothing changed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Place } from './sections.ts';
import type { Report } from './table.ts';

const SERVERS = 10_000;
const ROUNDS = 5;

const BARE = `
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
for (const entry of readdirSync(process.argv[1], { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) loadAll(readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}`;
/** What a process says at its end: how much memory it has had, as Linux tells it. */
const TELL_PEAK = `data:text/javascript,
import { existsSync, readFileSync } from 'node:fs';
const own = '/proc/self/status';
process.on('exit', () => existsSync(own) && process.stderr.write(readFileSync(own)));`;

export async function benchValidate({ folder, program }: Place): Promise<Report> {
  const [fleet, cache] = [join(folder, 'fleet'), join(folder, 'cache')];
  const manifests = fleetOf(SERVERS);
  for (const { path, content } of manifests) {
    mkdirSync(dirname(join(fleet, path)), { recursive: true });
    writeFileSync(join(fleet, path), content);
  }
  function run(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, XDG_CACHE_HOME: cache },
    });
    assert.equal(status, 0, stdout + stderr);
    return stderr;
  }
  const withPolicies = [program, 'validate', fleet];
  const validate = [...withPolicies, '--no-policies'];
  function anew(command: readonly string[]): void {
    rmSync(cache, { recursive: true, force: true });
    run(...command);
  }
  const { policies, cold, warm, bare } = await medians(ROUNDS, {
    policies: () => anew(withPolicies),
    cold: () => anew(validate),
    warm: () => run(...validate),
    bare: () => run('--input-type=module', '-e', BARE, fleet),
  });
  const reported = run('--import', TELL_PEAK, ...validate, '--no-cache');
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(reported)?.[1];
  const name = `skep validate, ${manifests.length} manifests`;
  const rows = [
    { name: `${name}, first`, ours: cold, baseline: bare, unit: 'ms', against: 'the same files through js-yaml' },
    { name: '... unchanged', ours: warm, baseline: cold, unit: 'ms', against: 'the first time' },
    { name: '... with the built-in policies', ours: policies, baseline: cold, unit: 'ms', against: 'without policies' },
    ...(peak === undefined ? [] : [{ name: '... memory', ours: Number(peak) / 1024, unit: 'MiB' }]),
  ];
  return { rows, notices: [] };
}

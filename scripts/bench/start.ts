// How long the command line takes to start, beside Node.js itself.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Place } from './sections.ts';
import type { Report } from './table.ts';

const ROUNDS = 11;

export async function benchStart({ folder, program }: Place): Promise<Report> {
  const manifest = join(folder, 'server.yaml');
  // The group of the server is in the file too.
  writeFileSync(
    manifest,
    fleetOf(1)
      .map(({ content }) => content)
      .join('---\n'),
  );
  function run(...args: readonly string[]): void {
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
  const { help, validate, node } = await medians(ROUNDS, {
    help: () => run(program, '--help'),
    validate: () => run(program, 'validate', manifest),
    node: () => run('-e', '0'),
  });
  const against = 'node -e 0';
  const rows = [
    { name: 'skep --help', ours: help, baseline: node, unit: 'ms', against },
    { name: 'skep validate, one file', ours: validate, baseline: node, unit: 'ms', against },
  ];
  return { rows, notices: [] };
}

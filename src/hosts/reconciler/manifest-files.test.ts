import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestFiles } from './manifest-files.ts';

/** Program that creates and deletes files until it is killed. */
const CHURN = `const { mkdirSync, writeFileSync, rmSync } = require('node:fs');
for (let round = 0; ; round += 1) {
  for (let each = 0; each < 50; each += 1) writeFileSync('gone-' + each + '.yaml', 'a: 1');
  mkdirSync('deep', { recursive: true });
  for (let each = 0; each < 50; each += 1) rmSync('gone-' + each + '.yaml');
  rmSync('deep', { recursive: true });
  if (round === 0) console.log('begun');
}`;

test('a file that is deleted between the listing and the reading counts as missing, and is not an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'manifest-files-'));
  writeFileSync(join(folder, 'stays.yaml'), 'a: 1');
  const churn = spawn(process.execPath, ['-e', CHURN], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => churn.stdout.once('data', resolve));
  for (let round = 0; round < 500; round += 1) {
    expect(manifestFiles(folder).map(({ path }) => path)).toContain(join(folder, 'stays.yaml'));
  }
  churn.kill('SIGKILL');
  await new Promise((resolve) => churn.once('close', resolve));
  rmSync(folder, { recursive: true, force: true });
});

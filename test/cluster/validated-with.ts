// `skep validate` against the definitions of another operator, as docs/migrating.md says.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SKEP = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));

/** The exit code and the errors of the check. */
export function validateWith(folder: string, definitions: string, manifests: string) {
  const [schemas, fleet] = [join(folder, 'schemas'), join(folder, 'fleet')];
  for (const each of [schemas, fleet]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each);
  }
  writeFileSync(join(schemas, 'definitions.yaml'), definitions);
  writeFileSync(join(fleet, 'fleet.yaml'), manifests);
  const args = ['--api-group', 'none.example.com', '--schemas', schemas, '--no-policies', '--no-cache', fleet];
  const { status, stdout } = spawnSync(process.execPath, [SKEP, 'validate', ...args], { encoding: 'utf8' });
  return { code: status, errors: stdout.split('\n').filter((line) => line.includes(': error ')) };
}

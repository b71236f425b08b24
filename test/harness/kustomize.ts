// Runs the kustomize of this machine. Tests that build kustomizations are skipped if it is not installed.

import { execFileSync, spawnSync } from 'node:child_process';

const PROGRAMS = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
] as const;

const found = PROGRAMS.find(([program]) => spawnSync(program, ['version'], { stdio: 'ignore' }).error === undefined);

if (found === undefined) {
  process.stderr.write('kustomizations are not built: put kustomize or kubectl on PATH\n');
}

export const hasKustomize = found !== undefined;

/** Returns the objects that kustomize itself builds from a folder. */
export function kustomized(folder: string): string {
  const [program, command] = found ?? ['kustomize', 'build'];
  const args = [command, folder, '--load-restrictor', 'LoadRestrictionsNone'];
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 16 << 20, stdio: ['ignore', 'pipe', 'ignore'] });
}

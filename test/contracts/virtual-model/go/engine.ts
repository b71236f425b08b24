// Runs Go's own engine, if Go is installed: builds main.go next to this file and calls it.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';

export const GO = ['/usr/local/go/bin/go', '/usr/bin/go'].find((path) => existsSync(path));

/** The text, or the stage at which Go refuses and the reason. */
export type GoAnswer = string | readonly ['parse'] | readonly ['run', why: string];

/** `directory`: the folder for the program. */
export function askGo(go: string, directory: string, cases: readonly Case[]): readonly GoAnswer[] {
  const program = join(directory, 'templates');
  execFileSync(go, ['build', '-o', program, join(import.meta.dirname, 'main.go')], {
    env: { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off', GOTOOLCHAIN: 'local' },
  });
  return JSON.parse(execFileSync(program, { input: JSON.stringify(cases), maxBuffer: 2 ** 30 }).toString());
}

/**
 * Whether results are not compared: Go distinguishes whole numbers and fractions (values.ts says why we do not), and
 * cuts characters of more than one byte into bytes that are not text.
 */
export function isDifferent([template, data]: Case, answer: GoAnswer): boolean {
  if (template.includes('slice') && /[^\0-\x7f]/.test(template + JSON.stringify(data))) return true;
  if (typeof answer === 'string')
    return /%!|%25%21/.test(answer) && /\((int|float64)=|%28(int|float64)%3D/.test(answer);
  return /for comparison: (int and float64|float64 and int)/.test(answer[1] ?? '');
}

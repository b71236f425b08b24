// Holds what README.md says `skep dev` prints against a run. UPDATE_EXPECTED=1 writes the page again.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT } from './pages.ts';

const PAGE = join(ROOT, 'README.md');
const TOKEN = '0MoGbUVBf4a7NfwLz6OcDC_eh4eGb6Lt';

/** What stands in the page in place of what a run of a test has. */
export interface Places {
  /** Path of the state folder. */
  readonly data: string;
  /** URL of the page. */
  readonly origin: string;
  /** How the run calls the program. */
  readonly command: string;
}

/** `begins`: the first words of the block, by which it is found, after its time. */
export function expectInReadme(begins: string, printed: string, places: Places): void {
  const page = readFileSync(PAGE, 'utf8');
  const blocks = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  const block = blocks.find((text) => text.replace(/^\[.*?\] /, '').startsWith(begins)) ?? '';
  const shown = asInReadme(printed, places);
  if (process.env.UPDATE_EXPECTED !== undefined)
    writeFileSync(
      PAGE,
      page.replace(block, () => shown),
    );
  else expect(withoutNumbers(block)).toEqual(withoutNumbers(shown));
}

function asInReadme(printed: string, { data, origin, command }: Places): string {
  return printed
    .replaceAll(data, '/home/you/skep/.skep/dev')
    .replaceAll(origin, 'http://127.0.0.1:8080')
    .replaceAll(command, './skep')
    .replaceAll(/(?<=^token +|#token=)\S+/gm, TOKEN)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Ports, commits, times and counts of requests are other ones in each run; cluster, database and issuer start side by side. */
function withoutNumbers(text: string): readonly string[] {
  const lines = text
    .replaceAll(/^\[ *\d+\.\d s\]/gm, '[s]')
    .replaceAll(/127\.0\.0\.1:(?!8080)\d+/g, '127.0.0.1:PORT')
    .replaceAll(/(?<=commit )[0-9a-f]{10}/g, 'ID')
    .replaceAll(/\(\d+ API requests, \d+\.\d s\)/g, '(API requests)')
    .split('\n')
    // They depend on how fast the machine is.
    .filter((line) => !/^ +not ready yet: |^\[s\] (?:ready: |\S+ (?:answers at|does not answer) )/.test(line));
  const begun = lines.filter((line) => /^\[s\] (?:cluster|database|issuer) at /.test(line));
  return [...begun.sort(), ...lines.filter((line) => !begun.includes(line))];
}

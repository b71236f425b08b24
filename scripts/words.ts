// Fails if a folder has more of the words that make sentences hard to read than test/words.json allows, and lists their places.
// `node scripts/words.ts --counts` prints all counts; `--lower` lowers the bounds of test/words.json to them.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Bounds } from './words/bounds.ts';
import { changedLines } from './words/changed-lines.ts';
import { countWords } from './words/count.ts';
import { WORDS, type Word } from './words/hard-words.ts';
import { wordProblems } from './words/report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = `${ROOT}test/words.json`;
const NAMES = Object.keys(WORDS) as Word[];
const folders = countWords(ROOT);

if (process.argv.includes('--counts')) {
  const columns = ['words', ...NAMES] as const;
  const rows = Object.entries(folders).map(([folder, { counts }]) => [folder, ...columns.map((name) => counts[name])]);
  for (const [folder = '', ...cells] of [['', ...columns], ...rows]) {
    process.stdout.write(`${String(folder).padEnd(16)}${cells.map((cell) => String(cell).padStart(13)).join('')}\n`);
  }
}

if (process.argv.includes('--lower')) {
  const bounds = readBounds();
  const lowered = Object.entries(folders).map(([folder, { counts }]) => [
    folder,
    Object.fromEntries(
      NAMES.map((name) => {
        const known = bounds[folder]?.[name] ?? counts[name];
        return [name, name === 'if' ? Math.max(known, counts[name]) : Math.min(known, counts[name])];
      }),
    ),
  ]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(lowered), undefined, 2)}\n`);
}

const problems = wordProblems(folders, readBounds(), changedLines(ROOT));
for (const line of problems) process.stderr.write(`${line}\n`);
if (problems.length > 0) process.exitCode = 1;

function readBounds(): Readonly<Record<string, Bounds>> {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

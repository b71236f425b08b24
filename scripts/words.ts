// Prints how often the words stand that make sentences hard to read, by folder. `node scripts/words.ts --lower` lowers the bounds of
// test/words.json to these counts.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Counts, countWords } from './words/count.ts';

const FILE = fileURLToPath(new URL('../test/words.json', import.meta.url));
const counts = countWords(fileURLToPath(new URL('..', import.meta.url)));

const columns = ['words', 'where', 'what', 'if', 'starts', 'isNo', 'anew', 'knowsNothing', 'names'] as const;
const rows = Object.entries(counts).map(([folder, each]) => [folder, ...columns.map((column) => String(each[column]))]);
for (const [folder = '', ...cells] of [['', ...columns], ...rows]) {
  process.stdout.write(`${folder.padEnd(16)}${cells.map((cell) => cell.padStart(13)).join('')}\n`);
}

if (process.argv.includes('--lower')) {
  const bounds: Record<string, Partial<Counts>> = JSON.parse(readFileSync(FILE, 'utf8'));
  const lowered = Object.entries(counts).map(([folder, { words: _words, ...each }]) => [
    folder,
    Object.fromEntries(
      Object.entries(each).map(([name, count]) => {
        const known = (bounds[folder] as Record<string, number> | undefined)?.[name] ?? count;
        return [name, name === 'if' ? Math.max(known, count) : Math.min(known, count)];
      }),
    ),
  ]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(lowered), undefined, 2)}\n`);
}

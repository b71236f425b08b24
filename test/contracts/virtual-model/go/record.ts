// Writes answers.jsonl: the results of Go for 2,400 generated templates. It needs Go: `node
// test/contracts/virtual-model/go/record.ts`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateCase } from './cases.ts';
import { askGo, GO, isDifferent } from './engine.ts';

const TEXTS = 1900;
const REFUSALS = 500;
const SEEDS = 12_000;
const LENGTH_MAX = 600;

if (GO === undefined) throw new Error('Go is not installed');
const directory = mkdtempSync(join(tmpdir(), 'go-templates-'));
const cases = Array.from({ length: SEEDS }, (_, seed) => generateCase(seed));
const answers = askGo(GO, directory, cases);
rmSync(directory, { recursive: true });
const rows: string[] = [];
const left = { texts: TEXTS, refusals: REFUSALS };
for (const [seed, each] of cases.entries()) {
  const answer = answers[seed] ?? ['parse'];
  const kind = typeof answer === 'string' ? 'texts' : 'refusals';
  if (isDifferent(each, answer) || answer.length > LENGTH_MAX || left[kind] === 0) continue;
  left[kind] -= 1;
  rows.push(JSON.stringify([seed, typeof answer === 'string' ? answer : null]));
}
writeFileSync(join(import.meta.dirname, 'answers.jsonl'), `${rows.join('\n')}\n`);
process.stdout.write(`${rows.length} answers, ${JSON.stringify(left)} missing\n`);

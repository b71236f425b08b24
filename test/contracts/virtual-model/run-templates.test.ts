// Tests that templates give the same results as text/template of Go: compared with recorded results, with Go itself if
// it is installed, and row by row for the differences. `node test/contracts/virtual-model/go/record.ts` records the
// results again.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseTemplate } from '#contracts/virtual-model/template/parse.ts';
import { runTemplate } from '#contracts/virtual-model/template/run.ts';
import type { JsonObject } from '#std/json.ts';
import { type Case, generateCase } from './go/cases.ts';
import { askGo, GO, isDifferent } from './go/engine.ts';

/** One line per template: the seed, and the text, or null if Go refuses. */
const ANSWERS: readonly (readonly [seed: number, text: string | null])[] = readFileSync(
  join(import.meta.dirname, 'go/answers.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

/** Returns null if the template fails. */
function run(text: string, data: JsonObject = {}): string | null {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) return null;
  const done = runTemplate(parsed.template, data);
  return 'text' in done ? done.text : null;
}

/** Returns an empty list if all agree. */
function disagreements(rows: readonly (readonly [each: Case, text: string | null])[]): readonly object[] {
  return rows.flatMap(([[template, data], go]) => {
    const ours = run(template, data);
    return ours === go ? [] : [{ template, data, go, ours }];
  });
}

it('2,400 templates give the results of Go', () => {
  expect(ANSWERS).toHaveLength(2400);
  const rows = ANSWERS.map(([seed, text]) => [generateCase(seed), text] as const);
  expect(disagreements(rows), 'repeat one: generateCase(seed) of test/contracts/virtual-model/go/cases.ts').toEqual([]);
});

it.skipIf(GO === undefined)('more than 2,000 others give what Go gives', { timeout: 300_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'go-templates-'));
  const cases = Array.from({ length: 3000 }, (_, index) => generateCase(1_000_000 + index));
  const answers = askGo(GO ?? '', directory, cases);
  rmSync(directory, { recursive: true });
  const rows = cases.flatMap((each, index) => {
    const answer = answers[index] ?? ['parse'];
    return isDifferent(each, answer) ? [] : [[each, typeof answer === 'string' ? answer : null] as const];
  });
  expect(rows.length).toBeGreaterThan(2000);
  expect(disagreements(rows)).toEqual([]);
});

const DATA: JsonObject = { n: 3, big: 1_000_000, huge: 9e15, f: 2.5, text: 'a', nothing: null, list: [1, 2] };

/** Go 1.26, with the same functions and the numbers of encoding/json, has other results. */
const NUMBERS: readonly (readonly [template: string, text: string, reason: string])[] = [
  ['{{.big}} {{.huge}}', '1000000 9000000000000000', 'a whole number is printed as one'],
  ['{{eq .n 3}} {{eq .n 3.0}} {{lt .f 3}}', 'true true true', 'numbers are compared as numbers'],
  ['{{printf "%.2f" .n}} {{printf "%d" 3.0}}', '3.00 3', 'a verb takes the number that it needs'],
  ['{{index .list .n | eq 0}}', '', 'out of range is still an error'],
];

it.each(NUMBERS)('%j gives %j: %s', (template, text) => {
  expect(run(template, DATA) ?? '').toBe(text);
});

/** Half a sentence for users, and the place that it is about. */
const FAULTS: readonly (readonly [template: string, message: string, at: number])[] = [
  ['{{.nothing.a}}', 'a is read from a value that is null', 2],
  ['x{{.text.a}}', 'a value of type string has no field a', 3],
  ['{{index .list 5}}', 'the index 5 is out of range: there are 2', 14],
  ['{{eq .text .list}}', 'a value of type []interface {} is not comparable', 11],
  ['{{fromJson .text}}', 'fromJson: the text is not JSON', 11],
  ['{{quote .gone}}', 'quote takes a text, not an absent value', 8],
  ['{{len}}', 'len takes 1 values, not 0', 2],
];

it.each(FAULTS)('%j: %s', (template, message, at) => {
  const parsed = parseTemplate(template);
  expect('template' in parsed && runTemplate(parsed.template, DATA)).toEqual({ fault: { message, at } });
});

const ENDLESS: readonly (readonly [template: string, message: string])[] = [
  ['{{range 9000000000000000}}{{end}}', 'more than 1,000,000 steps'],
  ['{{range 1000}}{{range 1000}}{{range 1000}}x{{end}}{{end}}{{end}}', 'more than 1,000,000 steps'],
  ['{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}', 'more than 100 deep'],
  ['{{$x := "aaaaaaaaaa"}}{{range 100}}{{$x = print $x $x}}{{end}}', 'more than 10 MiB'],
  ['{{printf "%1000000d%1000000d" 1 1 | printf "%s%[1]s"}}', 'is not supported'],
];

it.each(ENDLESS)('%s ends: %s', (template, message) => {
  const parsed = parseTemplate(template);
  expect('template' in parsed && runTemplate(parsed.template, DATA)).toMatchObject({
    fault: { message: expect.stringContaining(message) },
  });
});

it('values that are nested too deeply are an error, not an overflow', () => {
  const deep: JsonObject = { v: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) };
  expect(run('{{.v}}', deep)).toBeNull();
  expect(run('{{json .v}}', deep)).toBeNull();
});

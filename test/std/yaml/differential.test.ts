// Two parsers, one meaning: what the quick way reads, the careful way reads alike and without a problem. Every trap of
// YAML is either read alike or left to the careful way, and so are thousands of manifests with something odd in them.
// SKEP_SEED and SKEP_COUNT choose others, and more.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '#std/problem.ts';
import { plainValues } from '#std/yaml/events.ts';
import { readCarefully, readDocuments } from '#std/yaml/yaml.ts';
import { type Random, seeded } from '../../harness/random.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SEED = Number(process.env.SKEP_SEED ?? 20261121);
const COUNT = Number(process.env.SKEP_COUNT ?? 6000);

/** Undefined where both agree, or the quick way leaves it. */
function difference(text: string): object | undefined {
  const quick = plainValues(text);
  if (quick === undefined) return undefined;
  const careful = readCarefully(text, 'a.yaml');
  const problems = careful.flatMap((document) => document.problems.map(formatProblem));
  const values = careful.map(({ value }) => value);
  return problems.length === 0 && JSON.stringify(values) === JSON.stringify(quick)
    ? undefined
    : { text, quick, values, problems };
}

test.each([
  { reason: 'nothing', text: '', quick: true },
  { reason: 'comments only', text: '# one\n\n# two\n', quick: true },
  { reason: 'documents, empty ones among them', text: '---\na: 1\n---\n---\n# none\n---\nb: 2\n...\n', quick: true },
  {
    reason: 'scalars of YAML 1.1',
    text: 'a: [0644, yes, Off, ~, 1_000, 0x1F, 0b11, .5, 1e3, 12:30:45]\n',
    quick: true,
  },
  { reason: 'dates', text: 'a: 2001-12-14t21:59:43.10-05:00\nb: 2001-01-01\n', quick: true },
  { reason: 'a document that is a scalar', text: 'just text\n', quick: true },
  { reason: 'keys that read differently', text: 'yes: 1\n0x10: 2\n', quick: true },
  { reason: 'quoted keys and values', text: "\"a b\": 'it''s'\n'c': \"\\u00e9\\n\\x41\"\n", quick: true },
  { reason: 'a folded plain text', text: 'a: one\n  two\n\n  three\n', quick: true },
  { reason: 'block texts', text: 'a: |\n  one\n  two\nb: >-\n  three\n  four\nc: |+\n  five\n\n', quick: true },
  { reason: 'flow collections on several lines', text: 'a: {b: [1,\n  2], "c": {}}\nd: []\n', quick: true },
  { reason: 'JSON', text: '{"a": [1, {"b": null}], "c": "\\u0041"}', quick: true },
  { reason: 'a list in line with its key', text: 'a:\n- b: 1\n  c: 2\n-\n- - x\n', quick: true },
  { reason: 'a duplicate key', text: 'a: 1\na: 2\n', quick: false },
  { reason: 'two spellings of one key', text: "'1': a\n1: b\n", quick: false },
  { reason: 'a merge key', text: 'a: {b: 1}\n<<: {c: 2}\n', quick: false },
  { reason: 'a text that looks like a merge key', text: '"<<": {c: 2}\n', quick: false },
  { reason: 'an anchor', text: 'a: &x 1\n', quick: false },
  { reason: 'an alias', text: 'a: &x 1\nb: *x\n', quick: false },
  { reason: 'a tag', text: 'a: !!str 5\n', quick: false },
  { reason: 'a directive', text: '%YAML 1.1\n---\na: 1\n', quick: false },
  { reason: 'a large integer', text: 'a: 9007199254740993\n', quick: false },
  { reason: 'no finite number', text: 'a: .inf\n', quick: false },
  { reason: 'a tab', text: 'a:\tb\n', quick: false },
  { reason: 'line breaks of Windows', text: 'a: 1\r\nb: 2\r\n', quick: false },
  { reason: 'a byte order mark', text: '\ufeffa: 1\n', quick: false },
  { reason: 'a line separator', text: 'a: b\u2028c\n', quick: false },
  { reason: 'a next line character', text: 'a: b\u0085c\n', quick: false },
  { reason: 'half a pair', text: 'a: \ud800\n', quick: false },
  { reason: 'a key that is a list', text: '? [a]\n: b\n', quick: false },
  { reason: 'a key on two lines', text: '"a\n b": 1\n', quick: false },
  { reason: 'a key of 2000 characters', text: `${'k'.repeat(2000)}: 1\n`, quick: false },
  { reason: 'a block text with a width', text: 'a: |2\n    b\n', quick: false },
  { reason: 'a block text with a line of blanks', text: 'a: |\n  b\n     \n  c\n', quick: false },
  { reason: 'an indented marker', text: 'a:\n  ---\n', quick: false },
  { reason: 'something behind a bracket', text: 'a:\n- {b: c}d: e\n', quick: false },
  { reason: 'a line with a percent sign', text: 'a: 1\n  %b: 2\n', quick: false },
  { reason: 'a key named __proto__', text: '__proto__: 1\n', quick: false },
  { reason: 'nesting without end', text: '['.repeat(100_000), quick: false },
  { reason: 'broken indentation', text: 'a: b\n  c: d\n', quick: false },
  { reason: 'an open quote', text: 'a: "b\n', quick: false },
])('$reason: quick $quick', ({ text, quick }) => {
  expect(plainValues(text) !== undefined).toBe(quick);
  expect(difference(text)).toBeUndefined();
});

/** Where parsers may go apart. */
const ODDITIES = [
  ...[
    ' ',
    '  ',
    '\n',
    '\n\n',
    ':',
    ': ',
    '- ',
    '-',
    '"',
    "'",
    '#',
    ' #',
    '{',
    '}',
    '[',
    ']',
    ',',
    '|',
    '>',
    '|-',
    '>+',
  ],
  ...[
    '? ',
    '---\n',
    '...\n',
    '\\',
    '\\n"',
    '&a',
    '*a',
    '!',
    '%',
    '@',
    '`',
    '~',
    '0x1F',
    '1e3',
    '08',
    'yes',
    'null',
    '=',
  ],
  ...['<<: ', '\t', 'é', '.', '!!str ', '|2', '\n  ', '\n    ', 'a: b', '1:2', '"a":b', '"a" : b', '- - ', '-\n', "''"],
  ...['""', '\\u00e9', '\\x41', '\\/', '\\\n', '| # c\n', '>- x', '\r\n', '😀', '\u2028', '__proto__: ', '{a: b}c: '],
];

/** Some lines of a manifest, with some oddities put in, characters taken out or doubled. */
function oddText(random: Random, manifests: readonly string[]): string {
  const lines = random.pick(manifests).split('\n');
  const from = random.integer(lines.length);
  let text = lines.slice(from, from + 3 + random.integer(12)).join('\n');
  for (let change = random.integer(4); change >= 0; change--) {
    const at = random.integer(text.length + 1);
    const removed = random.chance(0.4) ? random.integer(4) : 0;
    const doubled = random.chance(0.1) ? text.slice(at, at + random.integer(20)) : '';
    text = text.slice(0, at) + (random.chance(0.8) ? random.pick(ODDITIES) : doubled) + text.slice(at + removed);
  }
  return text;
}

/** Those of the chart are templates, which are YAML only once they are rendered. */
function manifestTexts(): readonly string[] {
  return ['test/reconciler/kinds', 'manifests'].flatMap((folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.yaml') && !file.startsWith('chart/templates/'))
      .sort()
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
  });
}

test(`${COUNT} odd texts of seed ${SEED} are read alike`, () => {
  const manifests = manifestTexts();
  const random = seeded(SEED);
  const texts = Array.from({ length: COUNT }, () => oddText(random, manifests));
  expect(texts.flatMap((text) => difference(text) ?? [])).toEqual([]);
  // Were nothing read quickly, nothing would be compared.
  expect(texts.filter((text) => plainValues(text) !== undefined).length).toBeGreaterThan(COUNT / 5);
});

test('every manifest of ours is read quickly, and alike', () => {
  const manifests = manifestTexts();
  expect(manifests.flatMap((text) => difference(text) ?? [])).toEqual([]);
  const slow = manifests.filter((text) => plainValues(text) === undefined);
  expect(slow.length).toBeLessThan(manifests.length / 20);
});

test('a place is the same, whichever way the text was read', () => {
  const text = '# first\n---\na: 1\n---\n---\nb:\n  c: [x, {d: 1}]\n';
  const [quick, careful] = [readDocuments(text, 'a.yaml'), readCarefully(text, 'a.yaml')];
  expect(plainValues(text)).toHaveLength(2);
  for (const pointer of ['', '/b', '/b/c/1/d', '/b/none']) {
    expect(quick[1]?.place(pointer)).toEqual(careful[1]?.place(pointer));
    expect(quick[1]?.place(pointer, 'key')).toEqual(careful[1]?.place(pointer, 'key'));
  }
});

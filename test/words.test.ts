// The language of the source and of the documents can only get plainer: no folder has more of the words that make sentences
// hard to read than test/words.json allows, and its bounds follow the counts.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Bounds, isExceeded, lagsBehind } from '../scripts/words/bounds.ts';
import { changedLines, readHunks } from '../scripts/words/changed-lines.ts';
import { countWords, type Folder, type Place } from '../scripts/words/count.ts';
import { BANNED_NAMES, WORDS, type Word } from '../scripts/words/hard-words.ts';
import { wordProblems } from '../scripts/words/report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BOUNDS: Readonly<Record<string, Bounds>> = JSON.parse(readFileSync(`${ROOT}test/words.json`, 'utf8'));
const FOLDERS = countWords(ROOT);
const NAMES = Object.keys(WORDS) as Word[];

it('every folder has bounds', () => {
  expect(Object.keys(BOUNDS)).toEqual(Object.keys(FOLDERS));
});

describe.each(Object.entries(FOLDERS))('%s', (name, folder) => {
  /** With the places, as `node scripts/words.ts` prints them. */
  function problems(word: Word, broken: typeof isExceeded): readonly string[] {
    if (!broken(word, folder.counts, BOUNDS[name])) return [];
    return wordProblems({ [name]: folder }, BOUNDS, changedLines(ROOT));
  }

  it.each(NAMES)('%s: has no more of it than the bound allows, for "if" no less', (word) => {
    expect(problems(word, isExceeded)).toEqual([]);
  });

  it.each(NAMES)('%s: the bound follows the count', (word) => {
    expect(problems(word, lagsBehind)).toEqual([]);
  });
});

describe('the report', () => {
  const NONE = { ...(Object.fromEntries(NAMES.map((word) => [word, 0])) as Bounds), where: 9, what: 9, starts: 9 };
  const places = (count: number): readonly Place[] =>
    Array.from({ length: count }, (_, index) => ({ path: 'src/x/a.ts', line: index + 1, text: 'anew' }));
  function report(anew: number, bounds: Partial<Bounds>, counts: Partial<Bounds> = {}): readonly string[] {
    const none = Object.fromEntries(NAMES.map((word) => [word, []])) as unknown as Folder['places'];
    const folder: Folder = {
      counts: { words: 1000, ...NONE, anew, ...counts },
      places: { ...none, anew: places(anew) },
    };
    return wordProblems({ 'src/x': folder }, { 'src/x': { ...NONE, ...bounds } }, ({ line }) => line === 3);
  }

  it('says count, bound and places, those of the branch first', () => {
    expect(report(3, { anew: 2 })).toEqual([
      'src/x: 3, at most 2 are allowed, of "anew": write "again".',
      '  src/x/a.ts:3: anew (new)',
      '  src/x/a.ts:1: anew',
      '  src/x/a.ts:2: anew',
    ]);
  });

  it('lists 20 places at most', () => {
    expect(report(25, {})).toHaveLength(1 + 20 + 1);
    expect(report(25, {}).at(-1)).toBe('  and 5 more');
  });

  it('asks for more of "if", never for less', () => {
    expect(report(0, { if: 2 }, { if: 1.9 })).toEqual([expect.stringContaining('At least 2 are necessary')]);
    expect(report(0, { if: 2 }, { if: 2.1 })).toEqual([]);
  });

  it('says how a bound that lags behind is lowered', () => {
    expect(report(0, { anew: 5 })).toEqual([
      expect.stringContaining('the bound is still 5. Run node scripts/words.ts'),
    ]);
  });

  it('says nothing of a folder that keeps to its bounds', () => {
    expect(report(2, { anew: 2 })).toEqual([]);
  });
});

it('reads the lines of the branch from a diff', () => {
  const diff = '--- a/x.ts\n+++ b/x.ts\n@@ -1 +2,3 @@ text\n+a\n@@ -9,2 +11,0 @@\n-b\n@@ -20,0 +21 @@\n+c\n';
  expect(readHunks(diff).get('x.ts')).toEqual([
    { first: 2, last: 4 },
    { first: 21, last: 21 },
  ]);
});

it('every place is in a file, at the line that it names', () => {
  for (const word of ['where', 'anew', 'isNo', 'names'] as const) {
    for (const { path, line, text } of Object.values(FOLDERS).flatMap(({ places }) => places[word])) {
      const lines = readFileSync(`${ROOT}${path}`, 'utf8').split('\n');
      // The place of a text that goes over several lines is the first of them.
      const near = lines.slice(line - 1, line + 11).join('\n');
      expect(near, `${path}:${line}`).toContain(text);
    }
  }
});

it('CONTRIBUTING.md lists the words and the banned names', () => {
  const page = readFileSync(`${ROOT}CONTRIBUTING.md`, 'utf8');
  expect(page).toContain(
    Object.values(WORDS)
      .map((text) => `  - ${text}\n`)
      .join(''),
  );
  expect(page).toContain(`Banned in names: ${BANNED_NAMES.map((name) => `\`${name}\``).join(', ')}.`);
});

// Finds in comments, texts that users see, documents and identifiers the words that make sentences hard to read, and counts them.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { BANNED_IN_NAMES, COLUMN, PATTERNS, SQL, STARTS, type Word } from './hard-words.ts';

/** Counts of one folder. Frequencies of `if` are rounded down to a tenth, the others up. */
export type Counts = Readonly<Record<'words' | Word, number>>;

export interface Place {
  /** Path relative to the root of the project. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Everything in one folder that is counted. */
export interface Folder {
  readonly counts: Counts;
  /** Each place that a count is made of. */
  readonly places: Readonly<Record<Word, readonly Place[]>>;
}

/** A comment, a text or a paragraph. */
interface Prose {
  readonly path: string;
  readonly text: string;
  /** Line of the file at offsets of the text. */
  readonly starts: readonly { readonly offset: number; readonly line: number }[];
  /** Whether a line end of the text is one of the file, not an escape of a string. */
  readonly hasLines: boolean;
}

interface Gathered {
  readonly prose: Prose[];
  readonly names: Place[];
}

/** By top-level folder of `src`, and `docs`. */
export function countWords(root: string): Readonly<Record<string, Folder>> {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return Object.fromEntries([
    ...folders.map((name) => [`src/${name}`, counted(gatherCode(root, join(root, 'src', name)))] as const),
    ['docs', counted(gatherDocs(root, join(root, 'docs')))],
  ]);
}

function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
}

function gatherCode(root: string, folder: string): Gathered {
  const gathered: Gathered = { prose: [], names: [] };
  for (const file of filesBelow(folder, '.ts')) {
    const source = readFileSync(file, 'utf8');
    const path = relative(root, file);
    const lineOf = lineCounter(source);
    const { program, comments } = parseSync(file, source);
    gathered.prose.push(...blocksOf(path, comments, lineOf));
    const names = new Map<string, number>();
    // Keys of object literals are fields of outputs, or are declared elsewhere.
    const keys = new Set<number>();
    const note = (text: unknown, starts: Prose['starts']) =>
      void (
        typeof text === 'string' &&
        isSentence(text) &&
        gathered.prose.push({ path, text, starts, hasLines: false })
      );
    new Visitor({
      Property: ({ key, shorthand }) => void (shorthand || keys.add(key.start)),
      Identifier: ({ name, start }) => void (names.has(name) || keys.has(start) || names.set(name, start)),
      Literal: ({ value, start }) => note(value, [{ offset: 0, line: lineOf(start) }]),
      TemplateLiteral: ({ quasis }) => {
        const parts = quasis.map(({ value }) => value.cooked ?? '');
        const offsets = parts.map((_, index) => parts.slice(0, index).join('x').length);
        note(
          parts.join('x'),
          quasis.map(({ start }, index) => ({ offset: offsets[index] ?? 0, line: lineOf(start) })),
        );
      },
    }).visit(program);
    for (const [name, start] of names) {
      if (BANNED_IN_NAMES.test(name) && !COLUMN.test(name))
        gathered.names.push({ path, line: lineOf(start), text: name });
    }
  }
  return gathered;
}

function lineCounter(source: string): (offset: number) => number {
  const ends = [...source.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => ends.filter((end) => end < offset).length + 1;
}

/** Comments of lines that follow one another are one text. */
function blocksOf(
  path: string,
  comments: readonly { readonly value: string; readonly start: number; readonly end: number }[],
  lineOf: (offset: number) => number,
): readonly Prose[] {
  const blocks: Prose[] = [];
  let end = -1;
  for (const { value, start, end: next } of comments) {
    const whole = value.replace(/^[^\S\n]*\*+ ?/gm, '');
    const text = whole.trim();
    const skipped = whole.slice(0, whole.length - whole.trimStart().length).split('\n').length - 1;
    const line = lineOf(start) + skipped;
    // `// ` and the line end lie between two lines of one comment, and the indentation.
    const last = start - end <= 12 ? blocks.pop() : undefined;
    blocks.push({
      path,
      text: last === undefined ? text : `${last.text} ${text}`,
      starts: [...(last?.starts ?? []), { offset: last === undefined ? 0 : last.text.length + 1, line }],
      hasLines: true,
    });
    end = next;
  }
  return blocks;
}

/** Texts with several words; codes, paths, names and statements of SQL are not read as sentences. */
function isSentence(text: string): boolean {
  return /[a-z]+ [a-z]+ [a-z]+/.test(text) && !SQL.test(text);
}

function gatherDocs(root: string, folder: string): Gathered {
  const pages = filesBelow(folder, '.md').filter((path) => !path.includes('/decisions/'));
  const prose = pages.flatMap((file) => {
    const page = readFileSync(file, 'utf8')
      .replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => '\n'.repeat(block.split('\n').length - 1))
      .replace(/`[^`\n]*`/g, 'x');
    const lineOf = lineCounter(page);
    return split(page, /\n\s*\n/g).map(({ offset, text }) => ({
      path: relative(root, file),
      text,
      starts: [{ offset: 0, line: lineOf(offset) }],
      hasLines: true,
    }));
  });
  return { prose, names: [] };
}

function counted({ prose, names }: Gathered): Folder {
  const words = prose.flatMap((each) => matches(each, /[A-Za-z][A-Za-z'-]*/g));
  const sentences = prose
    .flatMap((each) => split(each.text, /(?<=[.!?:])\s+/g).map(({ offset, text }) => placeOf(each, offset, text)))
    .filter(({ text }) => /[a-z] [a-z]/.test(text));
  const word = (name: string) => words.filter(({ text }) => text.toLowerCase() === name);
  const pattern = (name: keyof typeof PATTERNS) => prose.flatMap((each) => matches(each, PATTERNS[name]));
  const places: Record<Word, readonly Place[]> = {
    where: word('where'),
    what: word('what'),
    if: word('if'),
    starts: sentences.filter(({ text }) => STARTS.test(text)),
    isNo: pattern('isNo'),
    anew: pattern('anew'),
    knowsNothing: pattern('knowsNothing'),
    thatOf: pattern('thatOf'),
    bareVerb: pattern('bareVerb'),
    names,
  };
  const per = (name: Word, of: number, scale: number) => (of === 0 ? 0 : (scale * places[name].length) / of);
  const counts: Counts = {
    words: words.length,
    where: up(per('where', words.length, 1000)),
    what: up(per('what', words.length, 1000)),
    if: Math.floor(per('if', words.length, 1000) * 10) / 10,
    starts: up(per('starts', sentences.length, 100)),
    isNo: places.isNo.length,
    anew: places.anew.length,
    knowsNothing: places.knowsNothing.length,
    thatOf: places.thatOf.length,
    bareVerb: places.bareVerb.length,
    names: names.length,
  };
  return { counts, places };
}

function matches(prose: Prose, pattern: RegExp): readonly Place[] {
  return [...prose.text.matchAll(pattern)].map(({ index, 0: found }) => placeOf(prose, index, found));
}

function placeOf({ path, text, starts, hasLines }: Prose, offset: number, found: string): Place {
  const start = starts.findLast((each) => each.offset <= offset) ?? { offset: 0, line: 1 };
  const ends = hasLines ? text.slice(start.offset, offset).split('\n').length - 1 : 0;
  return { path, line: start.line + ends, text: found };
}

/** Parts between the separators, with their offsets. */
function split(text: string, separator: RegExp): readonly { readonly offset: number; readonly text: string }[] {
  const ends = [...text.matchAll(separator)].map(({ index, 0: found }) => ({ index, after: index + found.length }));
  return [...ends, { index: text.length, after: text.length }].map(({ index }, at) => {
    const offset = ends[at - 1]?.after ?? 0;
    return { offset, text: text.slice(offset, index) };
  });
}

function up(value: number): number {
  return Math.ceil(value * 10) / 10;
}

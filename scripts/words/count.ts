// Counts in comments, texts that users see, documents and identifiers how often the words stand that make sentences hard to read.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Of one folder. Frequencies are per 1,000 words, rounded up to a tenth; the others are numbers of places. */
export interface Counts {
  readonly words: number;
  readonly where: number;
  readonly what: number;
  /** Rounded down. */
  readonly if: number;
  /** Sentences that begin with a clause in place of a noun, in a hundred. */
  readonly starts: number;
  readonly isNo: number;
  readonly anew: number;
  readonly knowsNothing: number;
  /** Declared names with a word that the house does not use. */
  readonly names: number;
}

const BANNED_IN_NAMES = /judge|defendant|verdict|innocent|wish|wanted|sight(?!s)|whoever/i;
const STARTS = /^(What|Of|Those|One|Where|By|As|Whoever)\b/;

interface Gathered {
  readonly prose: string[];
  names: number;
}

/** By top-level folder of `src`, and `docs`. */
export function countWords(root: string): Readonly<Record<string, Counts>> {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return Object.fromEntries([
    ...folders.map((name) => [`src/${name}`, counted(gatherCode(join(root, 'src', name)))] as const),
    ['docs', counted(gatherDocs(join(root, 'docs')))],
  ]);
}

function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
}

function gatherCode(folder: string): Gathered {
  const gathered: Gathered = { prose: [], names: 0 };
  for (const path of filesBelow(folder, '.ts')) {
    const { program, comments } = parseSync(path, readFileSync(path, 'utf8'));
    gathered.prose.push(...blocksOf(comments));
    const names = new Set<string>();
    const note = (text: unknown) => void (typeof text === 'string' && isSentence(text) && gathered.prose.push(text));
    new Visitor({
      Identifier: ({ name }) => void names.add(name),
      Literal: ({ value }) => note(value),
      TemplateLiteral: ({ quasis }) => note(quasis.map(({ value }) => value.cooked ?? '').join('x')),
    }).visit(program);
    gathered.names += [...names].filter((name) => BANNED_IN_NAMES.test(name)).length;
  }
  return gathered;
}

/** Comments of lines that follow one another are one text. */
function blocksOf(comments: readonly { readonly value: string; readonly start: number; readonly end: number }[]) {
  const blocks: string[] = [];
  let end = -1;
  for (const { value, start, end: next } of comments) {
    const text = value.replace(/^\s*\*+ ?/gm, '').trim();
    // `// ` and the line end lie between two lines of one comment, and the indentation.
    if (start - end <= 12 && blocks.length > 0) blocks.push(`${blocks.pop()} ${text}`);
    else blocks.push(text);
    end = next;
  }
  return blocks;
}

/** Texts with several words; codes, paths and names are not read as sentences. */
function isSentence(text: string): boolean {
  return /[a-z]+ [a-z]+ [a-z]+/.test(text);
}

function gatherDocs(folder: string): Gathered {
  const pages = filesBelow(folder, '.md').filter((path) => !path.includes('/decisions/'));
  const prose = pages.flatMap((path) =>
    readFileSync(path, 'utf8')
      .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
      .replace(/`[^`\n]*`/g, 'x')
      .split(/\n\s*\n/),
  );
  return { prose, names: 0 };
}

function counted({ prose, names }: Gathered): Counts {
  const words = prose.flatMap((text) => text.match(/[A-Za-z][A-Za-z'-]*/g) ?? []);
  const sentences = prose.flatMap((text) => text.split(/(?<=[.!?:])\s+/)).filter((text) => /[a-z] [a-z]/.test(text));
  const all = prose.join('\n');
  const per = (count: number, of: number, scale: number) => (of === 0 ? 0 : (scale * count) / of);
  const often = (word: string) => per(words.filter((each) => each.toLowerCase() === word).length, words.length, 1000);
  const places = (pattern: RegExp) => all.match(pattern)?.length ?? 0;
  return {
    words: words.length,
    where: up(often('where')),
    what: up(often('what')),
    if: Math.floor(often('if') * 10) / 10,
    starts: up(per(sentences.filter((text) => STARTS.test(text)).length, sentences.length, 100)),
    isNo: places(/(?<!\bthere )\b(is|are|was) no\b(?! longer)/gi),
    anew: places(/\banew\b/gi),
    knowsNothing: places(/\bknows? nothing\b/gi),
    names,
  };
}

function up(value: number): number {
  return Math.ceil(value * 10) / 10;
}

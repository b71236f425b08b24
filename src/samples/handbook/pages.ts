// Reads the Markdown pages of a folder, splits them into sections at their headings, and searches the sections by
// words.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Section {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Returns the sorted names of the pages without `.md`. */
export async function listPages(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort();
}

/** Returns undefined if the page does not exist. */
export async function readPage(folder: string, page: string): Promise<string | undefined> {
  return (await listPages(folder)).includes(page) ? readFile(join(folder, `${page}.md`), 'utf8') : undefined;
}

/** Splits a page into sections. Lines in a code block that begin with `#` are not headings. */
export function sectionsOf(page: string, text: string): readonly Section[] {
  const sections: { page: string; heading: string; text: string }[] = [];
  let code = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) code = !code;
    const heading = code ? undefined : /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ page, heading, text: '' });
    const last = sections.at(-1);
    if (last !== undefined && heading === undefined) last.text += `${line}\n`;
  }
  return sections;
}

/** A word in the heading weighs as much as this number of words in the text. */
const HEADING_WEIGHT = 5;
const MOST_OF_A_WORD = 4;

/** Returns the sections that contain all words, best match first. */
export function searchSections(sections: readonly Section[], query: string, limit: number): readonly Section[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = sections.map((section) => ({ section, score: scoreOf(section, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section }) => section);
}

function scoreOf({ heading, text }: Section, words: readonly string[]): number {
  const [title, body] = [heading.toLowerCase(), text.toLowerCase()];
  const counts = words.map((word) => {
    const inTitle = title.includes(word) ? HEADING_WEIGHT : 0;
    return inTitle + Math.min(body.split(word).length - 1, MOST_OF_A_WORD);
  });
  return counts.includes(0) ? 0 : counts.reduce((sum, count) => sum + count, 0);
}

// A page of the project's Markdown as the tests need it: its headings, links, inline code and fenced blocks with the
// comments right above them. It reads the Markdown that the house writes (fences, ATX headings, inline links), not all of
// CommonMark.

export interface Block {
  /** Of the line with the opening fence; from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Comments above it, nothing but blank lines between; without their marks. */
  readonly comments: readonly string[];
}

export interface Spot {
  readonly line: number;
  readonly text: string;
}

export interface Page {
  /** Relative to the top of the project. */
  readonly path: string;
  readonly anchors: ReadonlySet<string>;
  /** Targets of links and images. */
  readonly links: readonly Spot[];
  /** What stands between backticks. */
  readonly codes: readonly Spot[];
  readonly blocks: readonly Block[];
  /** Every comment of the page, also those above blocks. */
  readonly comments: readonly string[];
}

const FENCE = /^( *)(`{3,}|~{3,})\s*([\w-]*)/;

export function readPage(path: string, markdown: string): Page {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  const all: string[] = [];
  let above: string[] = [];
  // What is neither fence nor comment, line for line: prose.
  const prose = lines.map(() => '');
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = endOfFence(lines, index, fence[2] ?? '');
      const indent = (fence[1] ?? '').length;
      const text = lines.slice(index + 1, end).map((each) => each.slice(indent));
      blocks.push({ line: index + 1, language: fence[3] ?? '', text: text.join('\n'), comments: above });
      above = [];
      index = end;
    } else if (line.trimStart().startsWith('<!--')) {
      const end = lines.findIndex((each, at) => at >= index && each.includes('-->'));
      const last = end === -1 ? lines.length - 1 : end;
      const comment = lines
        .slice(index, last + 1)
        .join('\n')
        .trim()
        .replace(/^<!--/, '')
        .replace(/-->$/, '')
        .trim();
      all.push(comment);
      above.push(comment);
      index = last;
    } else {
      if (line.trim() !== '') above = [];
      prose[index] = line;
    }
  }
  const { text, codes } = withoutCode(prose.join('\n'));
  return { path, anchors: anchorsOf(prose), links: linksOf(text), codes, blocks, comments: all };
}

function endOfFence(lines: readonly string[], start: number, fence: string): number {
  const end = lines.findIndex((line, at) => at > start && line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim()));
  return end === -1 ? lines.length : end;
}

/** Inline code is taken out; the lines stay where they are. */
function withoutCode(prose: string): { readonly text: string; readonly codes: readonly Spot[] } {
  const codes: Spot[] = [];
  const text = prose.replace(/(?<!`)(`+)(?!`)((?:(?!\n\n)[\s\S])*?[^`])\1(?!`)/g, (whole, _marks, code: string, at) => {
    codes.push({ line: lineAt(prose, at), text: code.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\\|', '|') });
    return whole.replaceAll(/[^\n]/g, '.');
  });
  return { text, codes };
}

function linksOf(text: string): readonly Spot[] {
  return [...text.matchAll(/\]\(\s*<?([^()\s>]+)/g)].map(({ 1: target = '', index }) => {
    return { line: lineAt(text, index), text: target };
  });
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** As GitHub makes them of headings. */
function anchorsOf(prose: readonly string[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const base = plain.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

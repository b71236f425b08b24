// What the comments above a block ask for. docs/testing.md, "Pages", tells writers how they are written.

import type { Block, Page } from './markdown.ts';

/** A block of commands, and how it is run. */
export interface Commands {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** Commands that readers do not see, before it. */
  readonly first: string;
  /** What stands for something that is only known when it runs: text on the page, and the shell word in its place. */
  readonly put: readonly (readonly [text: string, word: string])[];
  /** Of its last command. */
  readonly exitCode: number;
  /** What it has to print. */
  readonly prints: readonly string[];
  /** Where given, it does not end by itself: it is left running once it has printed this. */
  readonly until: string | undefined;
}

/** A file that the page shows, and commands after it use. */
interface ShownFile {
  readonly line: number;
  readonly path: string;
  /** With what `put` puts into it, as it is. */
  readonly text: string;
}

export type Step = { readonly commands: Commands } | { readonly file: ShownFile };

type Marked =
  | { readonly run: Commands }
  | { readonly notRun: string }
  | { readonly fault: string }
  | { readonly is: 'no commands' };

const DIRECTIVE = /^(not run|not checked|first|put|exits|prints|until|file|stage): *([\s\S]*)$/;
/** Shorter ones say nothing. */
const SHORTEST_REASON = 10;

export function directivesOf(block: Block, name: string): readonly string[] {
  return block.comments.flatMap((comment) => {
    const found = DIRECTIVE.exec(comment);
    return found?.[1] === name ? [(found[2] ?? '').trim()] : [];
  });
}

/** Pages that become another's, and so hold no comments for us. */
const STAGE_OF_TEMPLATES = { folder: 'manifests/init/', stage: 'fleet' };

/** Of a page that has commands: the name of the place where they run. */
export function stageOf(page: Page): string | undefined {
  if (page.path.startsWith(STAGE_OF_TEMPLATES.folder)) return STAGE_OF_TEMPLATES.stage;
  return page.comments.map((comment) => /^stage: *(\S+)$/.exec(comment)?.[1]).find((name) => name !== undefined);
}

/** The steps of a page in its order; what a block lacks is a fault with its place. */
export function stepsOf(page: Page): { readonly steps: readonly Step[]; readonly faults: readonly string[] } {
  const steps: Step[] = [];
  const faults: string[] = [];
  const fault = (line: number, what: string) => faults.push(`${page.path}:${line}: ${what}`);
  for (const block of page.blocks) {
    if (block.language === '') fault(block.line, 'the block names no language (sh, console, text, yaml, json, ...)');
    const [path] = directivesOf(block, 'file');
    if (path !== undefined) {
      const text = putsOf(block).reduce((done, [name, other]) => done.replaceAll(name, () => other), block.text);
      steps.push({ file: { line: block.line, path, text } });
    }
    const marked = markOf(page, block);
    if ('fault' in marked) fault(block.line, marked.fault);
    if ('run' in marked) steps.push({ commands: marked.run });
  }
  if (steps.some((step) => 'commands' in step) && stageOf(page) === undefined) {
    fault(1, 'the page has commands; say where they run: <!-- stage: NAME -->, see test/docs/stages.ts');
  }
  return { steps, faults };
}

function markOf(page: Page, block: Block): Marked {
  const text = commandsIn(block);
  if (text === undefined) return { is: 'no commands' };
  const [notRun] = directivesOf(block, 'not run');
  if (notRun !== undefined) {
    return notRun.length < SHORTEST_REASON ? { fault: '`not run` needs a reason' } : { notRun };
  }
  const [until] = directivesOf(block, 'until');
  const put = putsOf(block);
  if (put.some(([name]) => name === '')) return { fault: '`put` is written TEXT = WORD' };
  const absent = put.filter(([name]) => !text.includes(name)).map(([name]) => name);
  if (absent.length > 0) return { fault: `\`put\` names what is not in the block: ${absent.join(', ')}` };
  return {
    run: {
      page: page.path,
      line: block.line,
      text,
      first: directivesOf(block, 'first').join('\n'),
      put,
      exitCode: Number(directivesOf(block, 'exits')[0] ?? 0),
      prints: directivesOf(block, 'prints'),
      until,
    },
  };
}

function putsOf(block: Block): readonly (readonly [string, string])[] {
  return directivesOf(block, 'put').map((each) => {
    const at = each.indexOf(' = ');
    return at === -1 ? ['', ''] : [each.slice(0, at), each.slice(at + 3)];
  });
}

/** `sh`: all of it. `console`: what follows a `$ `; the rest is what comes of it. */
function commandsIn(block: Block): string | undefined {
  if (block.language === 'sh') return block.text;
  if (block.language !== 'console') return undefined;
  const typed = block.text.split('\n').filter((line) => line.startsWith('$ '));
  return typed.map((line) => line.slice(2)).join('\n');
}

// What pages say beside their commands is true, too: links lead somewhere, commands and options that are named exist, paths in
// backticks are there, and the YAML and JSON that is shown is taken by whom it is for.

import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '#cli/command-line.ts';
import type { Page, Spot } from './markdown.ts';
import { PAGES, ROOT } from './pages.ts';
import { faultsOfShown } from './shown.ts';

function place(page: Page, { line }: Spot): string {
  return `${page.path}:${line}`;
}

function linkFault(page: Page, link: Spot): string | undefined {
  if (/^[a-z]+:/.test(link.text)) return undefined;
  const [path = '', anchor] = link.text.split('#');
  const target = path === '' ? page.path : normalize(join(dirname(page.path), path));
  // A link of a page that becomes another's, or of GitHub's own pages, would leave the project.
  if (target.startsWith('..')) return `${place(page, link)}: ${link.text} leads out of the project`;
  if (!existsSync(join(ROOT, target))) return `${place(page, link)}: ${link.text} is not there`;
  if (anchor === undefined) return undefined;
  const other = PAGES.find((each) => each.path === target);
  if (other === undefined || other.anchors.has(anchor)) return undefined;
  return `${place(page, link)}: ${target} has no heading #${anchor}`;
}

test('links lead to files and headings that are there', () => {
  expect(PAGES.flatMap((page) => page.links.map((link) => linkFault(page, link))).filter(Boolean)).toEqual([]);
});

/** Folders of the project whose files pages name by their path. */
const PATH = /^(src|docs|test|manifests|policies|scripts|\.github|\.ci|\.devcontainer)\/[\w./-]*$/;

test('paths in backticks are there', () => {
  const faults = PAGES.filter(({ path }) => !isPast(path)).flatMap((page) =>
    page.codes
      .filter(
        ({ text }) =>
          PATH.test(text) && ![ROOT, join(ROOT, dirname(page.path))].some((from) => existsSync(join(from, text))),
      )
      .map((code) => `${place(page, code)}: ${code.text} is not there`),
  );
  expect(faults).toEqual([]);
});

/** They tell what was true when they were written. */
function isPast(path: string): boolean {
  return path.startsWith('docs/decisions/') || path === 'CHANGELOG.md';
}

const COMMANDS = new Map(
  commandLine().commands.map((command) => [
    command.name(),
    {
      words: new Set(command.commands.map((each) => each.name())),
      options: new Set(
        [command, ...command.commands].flatMap(({ options }) => options.flatMap(({ long, short }) => [long, short])),
      ),
    },
  ]),
);

/** What is wrong with a line that calls skep; nothing where it does not. */
function callFault(text: string): string | undefined {
  const call = /(?:^|[|&;(] *|\$ )skep ([a-z]+)((?: .*)?)$/.exec(text);
  if (call === null) return undefined;
  const [, name = '', rest = ''] = call;
  const command = COMMANDS.get(name);
  if (command === undefined) return `there is no command "skep ${name}"`;
  const own = rest.split(/ (?:\|\|?|&&|>|#) ?|;/)[0] ?? '';
  const options = [...own.matchAll(/(?<=^|[\s[|(])(--?[a-z][\w-]*)/g)].map(([, option = '']) => option);
  const unknown = options.filter((option) => !command.options.has(option) && !['--help', '-h'].includes(option));
  return unknown.length === 0 ? undefined : `skep ${name} has no ${unknown.join(', ')}`;
}

test('every command and option of skep that is named exists', () => {
  const faults = PAGES.filter(({ path }) => !isPast(path)).flatMap((page) => {
    const shown = page.blocks
      .filter(({ language }) => ['sh', 'console', 'text', 'yaml'].includes(language))
      .flatMap(({ line, text }) => text.split('\n').map((each, at) => ({ line: line + 1 + at, text: each.trim() })));
    return [...page.codes, ...shown].flatMap((spot) => {
      const fault = callFault(spot.text);
      return fault === undefined ? [] : [`${place(page, spot)}: ${fault}`];
    });
  });
  expect(faults).toEqual([]);
});

test.each([
  ['skep plan --out FILE', undefined],
  ['skep plan --oot FILE', 'skep plan has no --oot'],
  ['skep plam', 'there is no command "skep plam"'],
  ['skep crds | kubectl apply --server-side -f -', undefined],
  ['skep migrate up', undefined],
  ['make && skep sync --nothing', 'skep sync has no --nothing'],
])('%s', (text, fault) => {
  expect(callFault(text)).toBe(fault);
});

test('YAML and JSON that is shown is what it is shown as', () => {
  expect(PAGES.flatMap(faultsOfShown)).toEqual([]);
});

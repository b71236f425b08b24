// Selects parts of documentation pages as steps that the suite runs on its node.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Commands, type Step, stepsOf } from '../docs/directives.ts';
import type { Page } from '../docs/markdown.ts';
import { PAGES, ROOT } from '../docs/pages.ts';

export function withText(step: Step, change: (text: string) => string): Step {
  return 'file' in step ? step : { commands: { ...step.commands, text: change(step.commands.text) } };
}

export function pageOf(path: string): Page {
  const page = PAGES.find((each) => each.path === path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page;
}

export function blockWith(page: Page, text: string): string {
  const block = page.blocks.find((each) => each.text.includes(text));
  if (block === undefined) throw new Error(`${page.path} has no block with "${text}"`);
  return block.text;
}

/** Returns the commands below a heading. Removes the preparations (`first`) that only other tests need. */
export function sectionOf(page: Page, heading: string): readonly Step[] {
  const lines = readFileSync(join(ROOT, page.path), 'utf8').split('\n');
  const from = lines.indexOf(heading);
  if (from === -1) throw new Error(`${page.path} has no heading "${heading}"`);
  const to = lines.findIndex((line, at) => at > from && /^#{1,3} /.test(line));
  return stepsOf(page).steps.flatMap((step) => {
    if (!('commands' in step) || step.commands.line < from || step.commands.line > to) return [];
    return [{ commands: { ...step.commands, first: '' } }];
  });
}

export function stepOf(page: Page, text: string): { readonly commands: Commands } {
  const nothing = { first: '', put: [], exitCode: 0, prints: [], until: undefined };
  return { commands: { ...nothing, page: page.path, line: 1, text } };
}

// Every command that a page shows is run, or the page says why not. How a page is made so: docs/testing.md, "Pages".

import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileTo } from '../../scripts/bench/compiled.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { type Step, stageOf, stepsOf } from './directives.ts';
import { readPage } from './markdown.ts';
import { PAGES } from './pages.ts';
import { runPage } from './run-page.ts';
import { openStage } from './stages.ts';

/** Not everybody has them; pages that need one that is not there are skipped, and it is said. */
const TOOLS = ['kubectl', 'jq', 'curl', 'ssh-keygen', 'openssl', 'sops', 'age-keygen'].map((name) => {
  return { name, isThere: spawnSync('sh', ['-c', `command -v ${name}`]).status === 0 };
});

function missing(steps: readonly Step[]): readonly string[] {
  const text = steps
    .map((step) => ('commands' in step ? `${step.commands.first}\n${step.commands.text}` : ''))
    .join('\n');
  return TOOLS.filter(({ name, isThere }) => !isThere && text.split(/[^\w-]+/).includes(name)).map(({ name }) => name);
}

/** Above the deadline of a page, which says where it is. */
const TIMEOUT_MS = 150_000;

// Compiled once, it starts faster a hundred times.
const folder = temporaryFolder();
let program: string;

beforeAll(async () => {
  program = await compileTo(folder.path);
});

/** Pages without commands whose tests ran. */
const withoutCommands: string[] = [];
let ran = 0;
/** If more pages than these ran, the run was not about one of them. */
const NAMED_MAX = 5;

afterAll(() => {
  folder.remove();
  if (ran > NAMED_MAX) return;
  for (const path of withoutCommands) process.stderr.write(`${path}: has no commands, so none were run\n`);
});

describe.concurrent('commands', () => {
  for (const page of PAGES) {
    const { steps } = stepsOf(page);
    if (!steps.some((step) => 'commands' in step)) {
      test(`${page.path} has no commands`, () => {
        ran += 1;
        withoutCommands.push(page.path);
        expect(stepsOf(page).faults).toEqual([]);
      });
      continue;
    }
    const absent = missing(steps);
    if (absent.length > 0) process.stderr.write(`${page.path}: commands not run: no ${absent.join(', ')} on PATH\n`);
    test.skipIf(absent.length > 0)(
      page.path,
      async () => {
        ran += 1;
        const stage = await openStage(stageOf(page) ?? 'empty', program);
        try {
          expect(await runPage(page.path, steps, stage)).toBeUndefined();
        } finally {
          await stage.close();
        }
      },
      TIMEOUT_MS,
    );
  }
});

test('every block of commands is run, or says why not', () => {
  expect(PAGES.flatMap((page) => stepsOf(page).faults)).toEqual([]);
});

test.each([
  [
    'without a word about it',
    '```sh\nmake\n```',
    ['x.md:1: the page has commands; say where they run: <!-- stage: NAME -->, see test/docs/stages.ts'],
  ],
  ['a reason that is none', '<!-- not run: no -->\n```sh\nmake\n```', ['x.md:2: `not run` needs a reason']],
  ['a reason', '<!-- not run: needs a registry to push to -->\n\n```sh\nmake\n```', []],
  [
    'a comment that is not right above',
    '<!-- stage: empty -->\n<!-- put: NAME = a -->\n\nText.\n\n```sh\nmake\n```',
    [],
  ],
  [
    'a name that is nowhere',
    '<!-- stage: empty -->\n<!-- put: NAME = a -->\n```sh\nmake\n```',
    ['x.md:3: `put` names what is not in the block: NAME'],
  ],
  ['no language', '```\n$ make\n```', ['x.md:1: the block names no language (sh, console, text, yaml, json, ...)']],
])('a block with %s', (_, text, faults) => {
  expect(stepsOf(readPage('x.md', text)).faults).toEqual(faults);
});

test('what fails is told with its place, and what is left running is ended', async () => {
  const text =
    '<!-- stage: empty -->\n<!-- until: begun -->\n```sh\necho begun; exec sleep 300\n```\n\n```console\n$ echo out\nout\n$ false\n```';
  const { steps } = stepsOf(readPage('x.md', text));
  const stage = await openStage('empty');
  try {
    expect(await runPage('x.md', steps, stage)).toBe('x.md:7: exit code 1 of: false\nout\n');
  } finally {
    await stage.close();
  }
});

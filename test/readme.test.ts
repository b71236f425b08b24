// What the README alone shows is true: its configuration, its table of commands, its npm scripts. Its links, options and
// commands are held true with those of every page, in test/docs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandLine } from '#cli/command-line.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { KINDS } from '#reconciler/kinds/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

function blocks(language: string): string[] {
  return [...README.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) => text);
}

test('the configuration is read as it stands, and sets what it says', () => {
  const [text] = blocks('yaml');
  const config = readConfig({ text, file: 'README.md', environment: {} });
  expect(config.name).toBe('prod');
  expect(config.sources).toHaveLength(1);
  expect(config.catalogue?.database.passFile).toBe('/secrets/pgpass');
});

test('a value comes from the environment by its path', () => {
  const [text] = blocks('yaml');
  const config = readConfig({
    text,
    file: 'README.md',
    environment: { SKEP_APPLY_MAXDELETES: '5', SKEP_NAME: 'other' },
  });
  expect(config.apply.maxDeletes).toBe(5);
  expect(config.name).toBe('other');
});

test('the table of commands is the command line', () => {
  const shown = [...README.matchAll(/^\| `skep (\w+)/gm)].map(([, name]) => name);
  expect(shown.toSorted()).toEqual(
    commandLine()
      .commands.map((command) => command.name())
      .toSorted(),
  );
});

test('it counts the kinds right', () => {
  const words = ['Eight', 'Nine', 'Ten', 'Eleven', 'Twelve', 'Thirteen', 'Fourteen'];
  expect(README).toContain(`**${words[KINDS.length - 8]} kinds.**`);
});

test('every npm script that is shown exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const shown = [...README.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
  const known = new Set([...Object.keys(scripts), 'ci', 'cit']);
  expect(shown.filter((name) => !known.has(name) && name !== 'and')).toEqual([]);
});

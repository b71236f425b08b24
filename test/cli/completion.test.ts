// Completion as shells have it: whatever the commands are, it knows them.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { commandLine } from '#cli/command-line.ts';
import { COMPLETIONS } from '#cli/completion.ts';
import { skep } from '../harness/skep.ts';

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Typed {
  readonly words: readonly string[];
  readonly command: Command;
}

function allCommands(command: Command, words: readonly string[]): readonly Typed[] {
  return [{ words, command }, ...command.commands.flatMap((each) => allCommands(each, [...words, each.name()]))];
}

const ALL = allCommands(commandLine(), ['skep']);

describe('bash', () => {
  const script = join(folder, 'skep.bash');
  writeFileSync(script, COMPLETIONS.bash(commandLine()));

  /** What it offers for each line, the last word of which is being typed. */
  function offered(typed: readonly (readonly string[])[]): readonly (readonly string[])[] {
    const asks = typed.map((words) => {
      const array = words.map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _skep; echo "\${COMPREPLY[*]}"`;
    });
    const { stdout, stderr } = spawnSync('bash', ['-c', [`source ${script}`, ...asks].join('\n')], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
  }

  test('offers the commands and the long options of every command', () => {
    const answers = offered(ALL.map(({ words }) => [...words, '']));
    for (const [index, { words, command }] of ALL.entries()) {
      const expected = [
        ...command.commands.map((each) => each.name()),
        ...command.options.filter(({ hidden }) => !hidden).map(({ long }) => long),
      ];
      expect(answers[index], words.join(' ')).toEqual(expect.arrayContaining(expected));
    }
  });

  test('offers the values of an option that takes one of several, and what begins as the word does', () => {
    expect(
      offered([
        ['skep', 'plan', '-o', ''],
        ['skep', 'validate', '--output', 'ma'],
        ['skep', 'vm'],
        ['skep', 'completion', ''],
      ]),
    ).toEqual([
      ['text', 'json', 'sarif', 'github', 'markdown'],
      ['markdown'],
      ['vmcp'],
      expect.arrayContaining(['bash', 'zsh', 'fish']),
    ]);
  });
});

test.each(['zsh', 'fish'] as const)('%s knows every command and every option', (shell) => {
  const script = COMPLETIONS[shell](commandLine());
  for (const { words, command } of ALL) {
    expect(script).toContain(words.at(-1));
    for (const { long, hidden } of command.options) {
      if (!hidden) expect(script, words.join(' ')).toContain(shell === 'fish' ? ` -l ${long?.slice(2)}` : ` ${long}`);
    }
  }
});

test.each(['zsh', 'fish'] as const)('%s reads it, where it is installed', (shell) => {
  const known = spawnSync(shell, ['--version']).status === 0;
  const file = join(folder, `skep.${shell}`);
  writeFileSync(file, COMPLETIONS[shell](commandLine()));
  if (known) expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test('the command prints it, and names the shells that it knows', async () => {
  const { code, stdout } = await skep(['completion', 'bash'], { cwd: folder });
  expect([code, stdout]).toEqual([0, COMPLETIONS.bash(commandLine())]);
  const refused = await skep(['completion', 'csh'], { cwd: folder });
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('bash, zsh, fish')]);
});

// Returns commands of this program for messages, as users type them in the folder in which the program was started.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { quoteWord } from '#std/page/shared/shell-word.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import type { InstanceFlags } from './config/configuration.ts';

/** Returns commands with the same options, such as `./skep approve HASH -c .skep/dev/skep.yaml`. */
export function commandOf(flags: InstanceFlags): CommandOf {
  return commandsBy(ownCommand, flags);
}

/**
 * Returns commands for readers on other machines, for example in a comment or in a log of CI. There, skep is on the
 * path.
 */
export function commandElsewhere(flags: InstanceFlags): CommandOf {
  return commandsBy(() => 'skep', flags);
}

function commandsBy(program: () => string, { config, kubeconfig, context }: InstanceFlags): CommandOf {
  const given = [
    ...(config === undefined || config === 'skep.yaml' ? [] : ['-c', config]),
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
  ];
  return (words) => [program(), words, ...given.map(quoteWord)].join(' ');
}

/**
 * Returns the command that starts this program from `folder`: `skep` if the program is on the path, `./skep` in a
 * checkout, or the command that started this process. In a checkout, Node.js is in node_modules.
 */
export function ownCommand(folder = process.cwd()): string {
  const script = process.argv[1] ?? '';
  const starter = join(dirname(dirname(script)), 'skep');
  const hasStarter = basename(dirname(script)) === 'dist' && existsSync(starter);
  if (isOnPath(script)) return 'skep';
  if (hasStarter) return wayFrom(folder, starter);
  if (basename(script) === 'skep') return wayFrom(folder, script);
  const node = process.execPath.replace('node_modules/node/bin/', 'node_modules/.bin/');
  return `${wayFrom(folder, node)} ${wayFrom(folder, script)}`;
}

/** Returns whether the program is on the path, itself or through a short script that starts it. */
function isOnPath(script: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders
    .map((folder) => join(folder, 'skep'))
    .find((file) => existsSync(file) && statSync(file).isFile());
  return found !== undefined && starts(realpathSync(found), script);
}

const STARTER_BYTES_MAX = 4096;

function starts(file: string, script: string): boolean {
  const program = existsSync(script) ? realpathSync(script) : script;
  if (file === program) return true;
  const { size } = statSync(file);
  if (size > STARTER_BYTES_MAX) return false;
  const text = readFileSync(file, 'utf8');
  return text.includes(program) || (text.includes('dist/skep.js') && join(dirname(file), 'dist/skep.js') === program);
}

/**
 * Returns the relative path, or the absolute path if the relative path begins with `../../..`, which is harder to read.
 */
function wayFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  if (way.startsWith('../../..')) return quoteWord(path);
  return quoteWord(way.includes('/') ? way : `./${way}`);
}

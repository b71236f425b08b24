// How commands of this very program are typed in this folder. Knows nothing about what they do.

import { existsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { CommandOf } from '../../report/deletion-text.ts';

/** A checkout's own Node is in node_modules. */
export function ownCommand(): string {
  const script = process.argv[1] ?? '';
  if (basename(script) === 'skep') return 'skep';
  if (relative(process.cwd(), script) === join('dist', 'skep.js') && existsSync('skep')) return './skep';
  const node = relative(process.cwd(), process.execPath).replace('node_modules/node/bin/', 'node_modules/.bin/');
  return `${node} ${relative(process.cwd(), script)}`;
}

/** Of those that ask by the settings in a file: `./skep approve HASH -c .skep/dev/skep.yaml`. */
export function commandOf(configFile: string): CommandOf {
  const path = relative(process.cwd(), configFile);
  const typed = /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
  return (words) => `${ownCommand()} ${words} -c ${typed}`;
}

// Writes commands as lines for a POSIX shell, in which only the names of variables have a special meaning.

import { quoteWord } from '#std/page/shared/shell-word.ts';
import type { Command } from './launch.ts';
import type { Template } from './template.ts';

/** Returns the command as a line for a POSIX shell; blanks come from the shell's environment. */
export function shellLine({ program, args, environment }: Command): string {
  const assignments = environment.flatMap(({ name, value }) => {
    // The shell passes on its own variables anyway.
    const isOwn = value.length === 1 && typeof value[0] === 'object' && value[0].name === name;
    return isOwn || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [`${name}=${shellWord(value)}`];
  });
  return [...assignments, program, ...args.map(shellWord)].join(' ');
}

/** Blanks come from the shell's environment. */
export function shellWord(template: Template): string {
  const word = template
    .map((part) => (typeof part === 'string' ? quoteWord(part) : `"$${shellName(part.name)}"`))
    .join('');
  return word === '' ? "''" : word;
}

/** Returns a valid name for a variable of the shell. */
export function shellName(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .replace(/^(?=[0-9])/, '_');
}

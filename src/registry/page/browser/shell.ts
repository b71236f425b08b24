// Formats commands as lines for a POSIX shell. Blanks become variables of the shell.

import { quoteWord } from '#std/page/shared/shell-word.ts';
import type { Command } from './launch.ts';
import type { Template } from './template.ts';

/** Returns the command line. Leaves out environment variables whose names a shell does not allow. */
export function shellLine({ program, args, environment }: Command): string {
  const assignments = environment.flatMap(({ name, value }) => {
    // The shell passes exported variables to the program without an assignment.
    const isOwn = value.length === 1 && typeof value[0] === 'object' && value[0].name === name;
    return isOwn || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [`${name}=${shellWord(value)}`];
  });
  return [...assignments, program, ...args.map(shellWord)].join(' ');
}

/** Returns one word of a command line. */
export function shellWord(template: Template): string {
  const word = template
    .map((part) => (typeof part === 'string' ? quoteWord(part) : `"$${shellName(part.name)}"`))
    .join('');
  return word === '' ? "''" : word;
}

/** Returns a valid name of a shell variable. */
export function shellName(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .replace(/^(?=[0-9])/, '_');
}

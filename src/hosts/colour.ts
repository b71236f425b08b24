// Colours lines on a terminal, unless NO_COLOR, `--no-color` or TERM forbids colours.

import { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Styles of lines by pattern. The first matching pattern applies. */
const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/^ *\+ .*/, 'green'],
  [/^ *-\/\+ .*/, 'magenta'],
  [/^ *- .*/, 'red'],
  [/^ *~ .*/, 'yellow'],
  [/^(?:\[.*?\] |\S+Z )?error\b(?: [a-z0-9-]+(?=:))?/, ['red', 'bold']],
  [/(?<=^(?:\[.*?\] |\S+Z | +)?(?:\S+:\d+:\d+: )?)error [a-z0-9-]+(?=:)/, ['red', 'bold']],
  [/^(?:\[.*?\] |\S+Z )?warn(?:ing)?\b(?: [a-z0-9-]+(?=:))?/, ['yellow', 'bold']],
  [/(?<=^(?:\[.*?\] |\S+Z | +)?(?:\S+:\d+:\d+: )?)warning [a-z0-9-]+(?=:)/, ['yellow', 'bold']],
  [/(?<=^(?:\[.*?\] |\S+Z )?\S+ )(?:created|configured)$/, 'green'],
  [/(?<=^(?:\[.*?\] |\S+Z )?\S+ )deleted$/, 'red'],
  [/(?<=^(?:\[.*?\] |\S+Z )?\S+ )failed(?=: )/, ['red', 'bold']],
  [/(?<=^(?:\[.*?\] |\S+Z )?\S+ )held(?=: )/, ['yellow', 'bold']],
  [/: (?:all valid|in sync)$/, 'green'],
  [/(?<= is )Failed$/, ['red', 'bold']],
];

interface Target {
  write(text: string): unknown;
}

/** Writes text, coloured if the stream is a terminal that shows colours. */
export function writeColoured(target: Target, text: string): void {
  target.write(showsColours(target) ? colour(text) : text);
}

/** Writes to stdout, coloured if the format is `text`. */
export function writeReport(format: string, text: string): void {
  if (format === 'text') writeColoured(process.stdout, text);
  else process.stdout.write(text);
}

/** Returns whether Node.js would use colours, which depends on the stream, NO_COLOR, FORCE_COLOR and TERM. */
function showsColours(target: Target): boolean {
  return target instanceof Writable && styleText('red', 'x', { stream: target }) !== 'x';
}

export function colour(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const fitting = STYLES.find(([pattern]) => pattern.test(line));
      if (fitting === undefined) return line;
      const [pattern, style] = fitting;
      return line.replace(pattern, (part) => styleText(style, part, { validateStream: false }));
    })
    .join('\n');
}

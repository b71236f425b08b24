// Prints the measurements of a soak for people.

import { figure } from '../bench/table.ts';
import { courses, type Watched } from './assess.ts';
import { ends, type Soaked } from './session.ts';

const HEAD = ['process', 'what', 'middle third', 'last third', 'ratio', ''];
const NUMBERS = new Set([2, 3, 4]);

/** What went on beside the watched processes. */
export function factsOf({ read, commits, runs, loopSeconds, notified }: Soaked): readonly string[] {
  const { p99, most } = ends(read.times);
  const { p99: late } = ends(read.late);
  const loops = [...loopSeconds].map(([name, values]) => `${name} ${figure(ends(values).p99 * 1000)} ms`);
  return [
    `${commits} commits; runs: ${[...runs].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}; ${notified} notifications`,
    `${read.times.length} reads in ${figure(read.seconds)} s (${figure(read.times.length / read.seconds)}/s): ` +
      `p99 ${figure(p99)} ms, the slowest ${figure(most)} ms; sent late, p99: ${figure(late)} ms`,
    `reads by sort: ${[...read.bySort].map(([sort, count]) => `${count} ${sort}`).join(', ')}`,
    `delay of the event loop, p99 of the p99s of 5 s: ${loops.join(', ')}`,
  ];
}

/** A Markdown table of each figure, and below it what went on meanwhile. */
export function linesOf(watched: readonly Watched[], facts: readonly string[]): string {
  const rows = watched.flatMap(courses).map(({ process, what, middle, last, broken }) => {
    const ratio = middle === last ? '1' : figure(last / middle);
    return [process, what, figure(middle), figure(last), ratio, broken === undefined ? '' : 'TOO MUCH'];
  });
  return `${tableOf(rows)}\n${facts.join('\n')}\n`;
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width, column) => (NUMBERS.has(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  const lines = [HEAD, rule, ...rows].map((cells) => {
    const padded = widths.map((width, column) => {
      const cell = cells[column] ?? '';
      return NUMBERS.has(column) ? cell.padStart(width) : cell.padEnd(width);
    });
    return `| ${padded.join(' | ')} |`;
  });
  return `${lines.join('\n')}\n`;
}

// Defines the report of a section, and prints it.

export interface Row {
  readonly name: string;
  readonly ours: number;
  /** Absent where there is nothing to compare with. */
  readonly baseline?: number;
  readonly unit: string;
  /** What the baseline is. */
  readonly against?: string;
}

export interface Report {
  readonly rows: readonly Row[];
  /** What was left out, and why. */
  readonly notices: readonly string[];
}

const HEAD = ['name', 'ours', 'baseline', 'ratio', 'unit', 'the baseline is'];
const NUMBERS = new Set([1, 2, 3]);

/** A Markdown table, padded to be read as it is, and the notices below. */
export function tableOf(reports: readonly Report[]): string {
  const rows = reports.flatMap((report) => report.rows.map(cellsOf));
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width, column) => (NUMBERS.has(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  const lines = [HEAD, rule, ...rows].map((cells) => lineOf(cells, widths));
  const notices = reports.flatMap((report) => report.notices.map((notice) => `note: ${notice}`));
  return `${[...lines, ...notices].join('\n')}\n`;
}

function cellsOf({ name, ours, baseline, unit, against = '' }: Row): readonly string[] {
  const ratio = baseline === undefined || baseline === 0 ? '' : figure(ours / baseline);
  return [name, figure(ours), baseline === undefined ? '' : figure(baseline), ratio, unit, against];
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = widths.map((width, column) => {
    const cell = cells[column] ?? '';
    return NUMBERS.has(column) ? cell.padStart(width) : cell.padEnd(width);
  });
  return `| ${padded.join(' | ')} |`;
}

/** Three significant digits: the rest is noise. Counts below a million are shown whole. */
export function figure(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1_000_000) return String(value);
  return Math.abs(value) >= 1000 ? String(Number(value.toPrecision(3))) : value.toPrecision(3);
}

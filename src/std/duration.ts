// Durations as the documents write them (`1h30m`, `250ms`).

const UNIT_MS = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Document 2, Conventions: groups of number (optional fraction) and unit. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$';

const WHOLE = new RegExp(DURATION_PATTERN);
const GROUP = /([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)/g;

/** Milliseconds, or undefined where the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(GROUP)) {
    totalMs += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return totalMs;
}

const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** A text that `parseDuration` reads: `1h30m`, `45s`, `250ms`; whole milliseconds only. */
export function formatDuration(ms: number): string {
  let left = Math.round(ms);
  const parts = UNITS.map(([unit, size]) => {
    const amount = Math.floor(left / size);
    left -= amount * size;
    return amount === 0 ? '' : `${amount}${unit}`;
  });
  return parts.join('') || '0s';
}

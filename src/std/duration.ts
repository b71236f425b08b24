// Parses and formats durations such as `1h30m` and `250ms`.

const UNIT_MS = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** One or more pairs of a number, with an optional fraction, and a unit. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$';

const WHOLE = new RegExp(DURATION_PATTERN);
const GROUP = /([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)/g;

/** Returns milliseconds. Returns undefined if the text is not a duration. */
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

/** Formats whole milliseconds as `1h30m`, `45s` or `250ms`. */
export function formatDuration(ms: number): string {
  let left = Math.round(ms);
  const parts = UNITS.map(([unit, size]) => {
    const amount = Math.floor(left / size);
    left -= amount * size;
    return amount === 0 ? '' : `${amount}${unit}`;
  });
  return parts.join('') || '0s';
}

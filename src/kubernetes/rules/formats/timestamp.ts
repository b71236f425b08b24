// Parses and formats points in time strictly by RFC 3339.

const FULL = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Returns nanoseconds since 1970. undefined if Go's `time.Parse(time.RFC3339, ...)` would fail. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = FULL.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match;
  const days = daysOf(Number(year), Number(month), Number(day));
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHours) > 24 || Number(offsetMinutes) > 60) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -60 : 60);
  const seconds = days * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

/** Returns midnight UTC of a `YYYY-MM-DD`, in nanoseconds since 1970. */
export function parseDate(text: string): bigint | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const days = daysOf(Number(year), Number(month), Number(day));
  return days === undefined ? undefined : BigInt(days) * 86_400n * 1_000_000_000n;
}

/** Returns days since 1970. undefined if the calendar does not have the day. */
function daysOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 86_400_000;
}

/** Serialises as RFC 3339 in UTC, without trailing zeros in the fraction of the second. */
export function formatTimestamp(ns: bigint): string {
  const seconds = floorDivide(ns, 1_000_000_000n);
  const fraction = (ns - seconds * 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  const text = new Date(Number(seconds) * 1000).toISOString().replace('.000Z', '');
  return `${text}${fraction === '' ? '' : `.${fraction}`}Z`;
}

export function floorDivide(value: bigint, by: bigint): bigint {
  return value >= 0n || value % by === 0n ? value / by : value / by - 1n;
}

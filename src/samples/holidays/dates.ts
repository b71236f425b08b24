// Computes dates as ISO 8601 texts: weekdays, and Easter.

const DAY_MS = 86_400_000;

export const SUNDAY = 0;
export const MONDAY = 1;
export const THURSDAY = 4;
export const SATURDAY = 6;

/** Returns whether the text is an existing date in the form `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time) && dateOf(time) === text;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `month` and `day` count from 1. */
export function date(year: number, month: number, day: number): string {
  return dateOf(Date.UTC(year, month - 1, day));
}

export function addDays(from: string, days: number): string {
  return dateOf(Date.parse(from) + days * DAY_MS);
}

export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

export function weekday(of: string): number {
  return new Date(of).getUTCDay();
}

/** Returns the date of a weekday in a month. `which` counts from 1; -1 means the last. */
export function nthWeekday(year: number, month: number, which: number, day: number): string {
  if (which > 0) {
    const first = date(year, month, 1);
    return addDays(first, ((day - weekday(first) + 7) % 7) + 7 * (which - 1));
  }
  const last = date(year, month + 1, 0);
  return addDays(last, -((weekday(last) - day + 7) % 7));
}

/** Returns Easter Sunday of the Gregorian calendar (Meeus, Astronomical Algorithms, chapter 8). */
export function easterSunday(year: number): string {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return date(year, Math.floor(n / 31), (n % 31) + 1);
}

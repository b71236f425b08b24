// Formats ages as `kubectl` does: `45s`, `3m12s`, `5h`, `2d4h`, `3y20d`.

/** Formats an age. Old ages are rounded more. A second unit is shown only if the first number is small. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** Returns the age of an RFC 3339 time. `<unknown>` if the time is missing. */
export function ageOf(time: unknown, now: number): string {
  const epochMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(epochMs) ? '<unknown>' : formatAge(now - epochMs);
}

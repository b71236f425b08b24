// Writes a time as RFC 3339, or as elapsed time for a person who reads it now.

/** Writes a time of RFC 3339. */
export type TimeText = (time: string) => string;

/** Writes the time itself, for files, pipes and CI, whose text is read later. */
export const fullTime: TimeText = (time) => time;

const UNITS = [
  { word: 'd', ms: 86_400_000 },
  { word: 'h', ms: 3_600_000 },
  { word: 'min', ms: 60_000 },
  { word: 's', ms: 1000 },
] as const;

/**
 * Writes `3 h ago`, in whole units. `now` is in milliseconds. Times in the future, and texts that are not a time, stay
 * as they are.
 */
export function timeAgo(now: number): TimeText {
  return (time) => {
    const ms = now - Date.parse(time);
    if (!(ms >= 0)) return time;
    const { word, ms: unit } = UNITS.find((each) => ms >= each.ms) ?? UNITS[3];
    return `${Math.floor(ms / unit)} ${word} ago`;
  };
}

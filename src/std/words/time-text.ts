// Formats times as RFC 3339, or as the time that has passed (`3 h ago`).

/** Formats an RFC 3339 time. */
export type TimeText = (time: string) => string;

/** Returns the time unchanged, for files, pipes and CI, whose text is read later. */
export const fullTime: TimeText = (time) => time;

const UNITS = [
  { word: 'd', ms: 86_400_000 },
  { word: 'h', ms: 3_600_000 },
  { word: 'min', ms: 60_000 },
  { word: 's', ms: 1000 },
] as const;

/**
 * Formats as `3 h ago` in whole units. `now` is in milliseconds. Times in the future and invalid times stay unchanged.
 */
export function timeAgo(now: number): TimeText {
  return (time) => {
    const ms = now - Date.parse(time);
    if (!(ms >= 0)) return time;
    const { word, ms: unit } = UNITS.find((each) => ms >= each.ms) ?? UNITS[3];
    return `${Math.floor(ms / unit)} ${word} ago`;
  };
}

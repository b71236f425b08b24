// Defines when a process reads each key of its configuration, and the effect of changes while it runs.

/**
 * `start`: read once, so a change requires another process. `again`: read again while the process runs, also for open
 * sessions. `never`: only for people and tools.
 */
export type KeyReading = 'start' | 'again' | 'never';

export type KeyReadings<Config> = { readonly [Key in keyof Required<Config>]: KeyReading };

/** Returns the keys that are read in this way. */
export function pickKeys<Config extends object>(
  readings: KeyReadings<Config>,
  config: Config,
  reading: KeyReading,
): Partial<Config> {
  const known: Readonly<Record<string, KeyReading>> = readings;
  return Object.fromEntries(Object.entries(config).filter(([key]) => known[key] === reading)) as Partial<Config>;
}

/** Returns the part of the new configuration that a running process applies. */
export function followed<Config extends object>(readings: KeyReadings<Config>, running: Config, next: Config): Config {
  const again = Object.keys(readings).filter((key) => readings[key as keyof Config] === 'again');
  const cleared = Object.fromEntries(again.map((key) => [key, undefined]));
  return { ...running, ...cleared, ...pickKeys(readings, next, 'again') };
}

/** Returns the keys whose values differ, sorted. */
export function changedKeys(before: object, after: object): readonly string[] {
  const [old, next] = [before, after].map((config) => new Map<string, unknown>(Object.entries(config)));
  const keys = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
  return [...keys].filter((key) => JSON.stringify(old?.get(key)) !== JSON.stringify(next?.get(key))).toSorted();
}

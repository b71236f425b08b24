// Defines when a process reads each key of its configuration, and the effects of a change while the process runs.

/**
 * `start`: read at the start, so a change requires a restart. `again`: read again after a change, also for open
 * sessions. `never`: not read by the process, only for people and tools.
 */
export type KeyReading = 'start' | 'again' | 'never';

export type KeyReadings<Config> = { readonly [Key in keyof Required<Config>]: KeyReading };

/** Returns the part of the configuration whose keys are read at this time. */
export function pickKeys<Config extends object>(
  readings: KeyReadings<Config>,
  config: Config,
  reading: KeyReading,
): Partial<Config> {
  const known: Readonly<Record<string, KeyReading>> = readings;
  return Object.fromEntries(Object.entries(config).filter(([key]) => known[key] === reading)) as Partial<Config>;
}

/** Returns the running configuration with the changes that a running process applies. */
export function followed<Config extends object>(readings: KeyReadings<Config>, running: Config, next: Config): Config {
  const again = Object.keys(readings).filter((key) => readings[key as keyof Config] === 'again');
  const cleared = Object.fromEntries(again.map((key) => [key, undefined]));
  return { ...running, ...cleared, ...pickKeys(readings, next, 'again') };
}

/** Returns the keys with different values, sorted. */
export function changedKeys(before: object, after: object): readonly string[] {
  const [old, next] = [before, after].map((config) => new Map<string, unknown>(Object.entries(config)));
  const keys = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
  return [...keys].filter((key) => JSON.stringify(old?.get(key)) !== JSON.stringify(next?.get(key))).toSorted();
}

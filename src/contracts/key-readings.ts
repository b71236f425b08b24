// When a process reads which key of its configuration, and what follows for one that changes while it runs.

/**
 * `start`: read once; another value needs another process. `again`: read again while the process runs, living sessions
 * included. `never`: for people and tools.
 */
export type KeyReading = 'start' | 'again' | 'never';

export type KeyReadings<Config> = { readonly [Key in keyof Required<Config>]: KeyReading };

/** The keys that are read in this way. */
export function pickKeys<Config extends object>(
  readings: KeyReadings<Config>,
  config: Config,
  reading: KeyReading,
): Partial<Config> {
  const known: Readonly<Record<string, KeyReading>> = readings;
  return Object.fromEntries(Object.entries(config).filter(([key]) => known[key] === reading)) as Partial<Config>;
}

/** The new configuration as far as a running process follows it. */
export function followed<Config extends object>(readings: KeyReadings<Config>, running: Config, next: Config): Config {
  const again = Object.keys(readings).filter((key) => readings[key as keyof Config] === 'again');
  const cleared = Object.fromEntries(again.map((key) => [key, undefined]));
  return { ...running, ...cleared, ...pickKeys(readings, next, 'again') };
}

/** Keys that have another value, sorted. */
export function changedKeys(before: object, after: object): readonly string[] {
  const [old, next] = [before, after].map((config) => new Map<string, unknown>(Object.entries(config)));
  const keys = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
  return [...keys].filter((key) => JSON.stringify(old?.get(key)) !== JSON.stringify(next?.get(key))).toSorted();
}

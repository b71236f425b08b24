// Caches the last few values by name, such as the current commit of a ref and the commit of a rollback.

export interface Recent<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

const KEPT = 2;

export function openRecent<T>(): Recent<T> {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of [...entries.keys()].slice(0, -KEPT)) entries.delete(oldest);
    },
  };
}

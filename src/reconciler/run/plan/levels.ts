// Which kinds come before which, by what each says of itself.

import type { Kind } from '../../kinds/kind.ts';

/** By kind: 0 where nothing of ours comes before it, and one more than the last of those that do. */
export function levels(kinds: readonly Kind[]): ReadonlyMap<string, number> {
  const level = new Map<string, number>();
  function of(name: string, path: readonly string[]): number {
    const kind = kinds.find((each) => each.kind === name);
    if (kind === undefined || path.includes(name)) return 0;
    const done = level.get(name) ?? 1 + Math.max(-1, ...kind.after.map((before) => of(before, [...path, name])));
    level.set(name, done);
    return done;
  }
  for (const { kind } of kinds) of(kind, []);
  return level;
}

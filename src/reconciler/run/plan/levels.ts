// Orders kinds by `after`: the kinds that must be applied before each kind.

import type { Kind } from '../../kinds/kind.ts';

/**
 * Returns the level of each kind: 0 if `after` names no other kind of ours. Otherwise the level is one more than the
 * highest level of the kinds in `after`.
 */
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

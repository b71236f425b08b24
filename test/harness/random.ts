// Generates pseudorandom numbers, which are equal for equal seeds.

export interface Random {
  /** Returns an integer from 0 to `below` - 1. */
  integer(below: number): number;
  /** Returns true with the probability `share`, from 0 to 1. */
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Implements mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  function integer(below: number): number {
    return Math.floor(next() * below);
  }
  return {
    integer,
    chance: (share) => next() < share,
    pick(choices) {
      const chosen = choices[integer(choices.length)];
      if (chosen === undefined) throw new RangeError('nothing to choose from');
      return chosen;
    },
  };
}

// Checks `dependsOn` of sources: every named source must exist, and no source may depend on itself through other
// sources.

import { didYouMean } from '#std/closest.ts';

interface Source {
  readonly name: string;
  readonly dependsOn: readonly string[];
}

interface Fault {
  readonly message: string;
  /** JSON pointer relative to the list of sources. */
  readonly at: string;
}

export function unknownSources(sources: readonly Source[]): readonly Fault[] {
  const names = sources.map(({ name }) => name);
  return sources.flatMap(({ dependsOn }, index) =>
    dependsOn.flatMap((name, position) =>
      names.includes(name)
        ? []
        : [
            {
              at: `/${index}/dependsOn/${position}`,
              message: `no source has the name "${name}".${didYouMean(name, names)}`,
            },
          ],
    ),
  );
}

/** Returns a fault for each cycle, at the first source of the cycle. */
export function circularSources(sources: readonly Source[]): readonly Fault[] {
  const position = new Map(sources.map(({ name }, index) => [name, index]));
  function pathBack(first: string, start: string): readonly string[] | undefined {
    const seen = new Set<string>();
    const open = [[start, first]];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const name = path.at(-1) ?? '';
      if (name === start) return path;
      const index = position.get(name);
      if (index === undefined || index < (position.get(start) ?? 0) || seen.has(name)) continue;
      seen.add(name);
      open.push(...(sources[index]?.dependsOn ?? []).map((next) => [...(path ?? []), next]));
    }
    return undefined;
  }
  return sources.flatMap(({ name, dependsOn }, index) =>
    dependsOn.flatMap((needed, at) => {
      const path = pathBack(needed, name);
      if (path === undefined) return [];
      const message = `sources wait for each other: ${path.join(' -> ')}. Remove one of these dependencies`;
      return [{ at: `/${index}/dependsOn/${at}`, message }];
    }),
  );
}

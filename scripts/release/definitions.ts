// Definitions are held against those of every release that was recorded: what is stored by those, and written for them, has to
// stay good.

import { readFileSync } from 'node:fs';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { recordedReleases } from '../../test/upgrade/recorded.ts';
import { incompatibilities } from './compatibility.ts';

/** A break that someone has decided on. */
export interface Deliberate {
  /** The release that it breaks with. */
  readonly release: string;
  readonly where: string;
  readonly what: string;
  /** Why, and what users do about it: CHANGELOG.md and docs/upgrade.md tell them. */
  readonly why: string;
}

export const DELIBERATE: readonly Deliberate[] = JSON.parse(
  readFileSync(new URL('./deliberate.json', import.meta.url), 'utf8'),
);

/** A line for each break that is not listed, and for each that is listed and is none. */
export function releaseProblems(
  definitions: readonly KubeObject[],
  deliberate: readonly Deliberate[] = DELIBERATE,
): readonly string[] {
  const found = recordedReleases().flatMap(({ tag, definitions: before }) =>
    incompatibilities(before, definitions).map((each) => ({ release: tag, ...each })),
  );
  const textOf = ({ release, where, what }: Omit<Deliberate, 'why'>) => `${release}: ${where}: ${what}`;
  const [breaks, listed] = [new Set(found.map(textOf)), new Set(deliberate.map(textOf))];
  return [
    ...[...breaks]
      .filter((text) => !listed.has(text))
      .map(
        (text) =>
          `breaks with ${text}\n  keep it compatible, or list it in scripts/release/deliberate.json with its reason`,
      ),
    ...[...listed]
      .filter((text) => !breaks.has(text))
      .map((text) => `listed in scripts/release/deliberate.json, but breaks nothing: ${text}`),
  ];
}

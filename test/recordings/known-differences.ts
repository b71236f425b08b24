// Where the embedded cluster knowingly answers otherwise than the real server that was recorded, each with the reason.
// An entry that no longer applies fails the replay: the list says what is, not what was.

import type { Difference } from './compare.ts';

export interface KnownDifference {
  /** Scenario names; `*` stands for any part of a name. */
  readonly scenario: string;
  /** The step's reason; absent: every step. */
  readonly step?: string;
  /** JSON pointer into `{request, answer}`; `*` stands for one token, `**` at the end for everything below. */
  readonly pointer: string;
  readonly reason: string;
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [];

export function isKnown(known: KnownDifference, scenario: string, difference: Difference): boolean {
  if (known.step !== undefined && known.step !== difference.reason) return false;
  return matches(known.scenario.split('*'), scenario) && pointerMatches(known.pointer, difference.pointer);
}

function matches(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts;
  if (!name.startsWith(first)) return false;
  if (rest.length === 0) return name === first;
  const last = rest.at(-1) ?? '';
  return name.length >= first.length + last.length && name.endsWith(last);
}

function pointerMatches(pattern: string, pointer: string): boolean {
  const wanted = pattern.split('/');
  const tokens = pointer.split('/');
  if (wanted.at(-1) === '**') {
    const above = wanted.slice(0, -1);
    return tokens.length >= above.length && above.every((token, index) => token === '*' || token === tokens[index]);
  }
  return wanted.length === tokens.length && wanted.every((token, index) => token === '*' || token === tokens[index]);
}

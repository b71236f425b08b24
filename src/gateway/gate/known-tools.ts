// The hints of tools that policies read, remembered from the lists of the server: they must be known before the first call.

import { setBounded } from '#std/bounded.ts';
import { isObject } from '#std/json.ts';
import { HINTS, type ToolHints } from './policy/request.ts';

export interface KnownTools {
  /** By the name that clients see; undefined where the tool is in no list. */
  hintsOf(name: string): ToolHints | undefined;
  learn(name: string, hints: ToolHints): void;
  /** All pages of a list have been learned: what is not known now has no hints. */
  markComplete(): void;
  /** The list changed: hints stay until they are learned anew, but the list has to be asked for. */
  markStale(): void;
  readonly complete: boolean;
}

/** A server that invents names does not fill the memory. */
const TOOLS_MAX = 20_000;

export function createKnownTools(): KnownTools {
  const hints = new Map<string, ToolHints>();
  let complete = false;
  return {
    hintsOf: (name) => hints.get(name),
    learn: (name, learned) => setBounded(hints, name, learned, TOOLS_MAX),
    markComplete() {
      complete = true;
    },
    markStale() {
      complete = false;
    },
    get complete() {
      return complete;
    },
  };
}

/** Out of `annotations` of a tool; what is no boolean is no hint. */
export function hintsFrom(annotations: unknown): ToolHints {
  if (!isObject(annotations)) return NO_HINTS;
  const hints: { -readonly [hint in keyof ToolHints]: boolean } = {};
  for (const hint of HINTS) {
    const value = annotations[hint];
    if (typeof value === 'boolean') hints[hint] = value;
  }
  return hints;
}

const NO_HINTS: ToolHints = {};

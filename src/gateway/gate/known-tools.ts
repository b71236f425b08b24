// Stores the hints of tools from the lists of the server: policies that read hints need them before the first call.

import { setBounded } from '#std/bounded.ts';
import { isObject } from '#std/json.ts';
import { HINTS, type ToolHints } from './policy/request.ts';

export interface KnownTools {
  /** Finds a tool by the name that clients see; returns undefined if no list contains it. */
  hintsOf(name: string): ToolHints | undefined;
  learn(name: string, hints: ToolHints): void;
  /** Notes that all pages of a list were learned: tools that are still unknown have no hints. */
  markComplete(): void;
  /** Notes that the list has changed: the list has to be read again, and hints stay until then. */
  markStale(): void;
  readonly complete: boolean;
}

/** Maximum number of stored tools, so that a server that invents names cannot fill the memory. */
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

/** Reads the hints from `annotations` of a tool; values that are not boolean are ignored. */
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

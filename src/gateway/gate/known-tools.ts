// Stores the hints of tools from the server's lists. Policies that read hints need the hints before the first call.

import { setBounded } from '#std/bounded.ts';
import { isObject } from '#std/json.ts';
import { HINTS, type ToolHints } from './policy/request.ts';

export interface KnownTools {
  /** Returns the hints of the tool that clients call `name`. undefined if no list has contained the tool. */
  hintsOf(name: string): ToolHints | undefined;
  learn(name: string, hints: ToolHints): void;
  /** Records that all pages of the list were read. Tools that are still unknown therefore have no hints. */
  markComplete(): void;
  /** Records that the server's list has changed and must be read again. Known hints stay until the next reading. */
  markStale(): void;
  readonly complete: boolean;
}

/** Maximum number of stored tools. A server that invents names would otherwise fill the memory. */
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

/** Reads the hints in `annotations` of a tool. Ignores values that are not boolean. */
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

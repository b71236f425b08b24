// What the reconciler's own listener needs of the program that it belongs to, and what it is called with by it.

import type { Failure } from '#std/failure.ts';
import type { RunResult } from '../run/result.ts';

/** Secrets that someone else keeps and may change at any time. */
export interface Secrets {
  /** Each of them is as good as the others, so that they can be changed without a gap. Throws Failure `secret-file-unreadable`. */
  values(): Promise<readonly string[]>;
}

/** How the program is; every reason is one sentence for a person. */
export interface Vitals {
  /** Why runs make no progress; undefined where they do, however slowly. */
  stuck(): string | undefined;
  /** Why no one should rely on it now; empty where one may. */
  unready(): readonly string[];
}

/** How a run ended: with what it tells, or not even that. */
export type Ending = { readonly result: RunResult } | { readonly failure: Failure };

/** Called by the loop of runs as it goes. */
export interface RunWatcher {
  /** `reason`: `start`, `schedule`, `follow-up`, `source`, `watch`, `webhook`, `request`. */
  began(reason: string): void;
  ended(ending: Ending): void;
}

/** One look at a source. */
export interface SourceFetch {
  readonly source: string;
  readonly seconds: number;
  /** Of the Failure; undefined where there was none. */
  readonly failure?: string;
}

/**
 * Asks for a run that begins after this moment. However many ask, it is one; false: it was asked for already, and has
 * not begun.
 */
export type Trigger = (reason: 'webhook' | 'request') => boolean;

/** `began`, `ended`: a run. `fleet`: the state of the fleet is another one, or of another run. */
export type FleetEvent = 'began' | 'ended' | 'fleet';

/** The fleet as the last run has found it. */
export interface Fleet {
  /** As JSON; equal states have equal tags. */
  state(): { readonly text: string; readonly tag: string };
  /** One resource as JSON, read now; undefined if the last run knew none of that id. */
  resource(id: string): Promise<string | undefined>;
  /** The returned function ends it. */
  follow(notify: (event: FleetEvent) => void): () => void;
}

/** The history of runs as JSON, as `skep history -o json` prints it. Both throw Failure. */
export interface Runs {
  list(): Promise<string>;
  /** By id, or how it starts. Throws Failure `run-not-found` besides. */
  find(start: string): Promise<string>;
}

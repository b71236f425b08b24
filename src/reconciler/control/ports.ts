// Declares the dependencies of the reconciler's own listener, and its interface for the program that it belongs to.

import type { Failure } from '#std/failure.ts';
import type { RunResult } from '../run/result.ts';

/** Secrets that another component keeps and may change at any time. */
export interface Secrets {
  /**
   * Returns secrets of equal rank, so that they can be changed without a gap. Throws Failure `secret-file-unreadable`.
   */
  values(): Promise<readonly string[]>;
}

/** Health of the program; every reason is one sentence for a person. */
export interface Vitals {
  /** Returns why runs make no progress; undefined if they do, however slowly. */
  stuck(): string | undefined;
  /** Returns why clients should not rely on the program now; empty if they may. */
  unready(): readonly string[];
}

/** End of a run: its result, or the failure that left it without one. */
export type Ending = { readonly result: RunResult } | { readonly failure: Failure };

/** Called by the loop of runs. */
export interface RunWatcher {
  /** `reason`: `start`, `schedule`, `follow-up`, `source`, `watch`, `webhook`, `request`. */
  began(reason: string): void;
  ended(ending: Ending): void;
}

/** A read of a source. */
export interface SourceFetch {
  readonly source: string;
  readonly seconds: number;
  /** Code of the Failure; undefined if there was none. */
  readonly failure?: string;
}

/**
 * Requests a run that begins after this moment. Several requests lead to one run. Returns false if a run was requested
 * already and has not begun.
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
  /** Finds a run by its id, or by the start of its id. Also throws Failure `run-not-found`. */
  find(start: string): Promise<string>;
}

// Declares the dependencies of the reconciler's own listener, and its interface for the program that it belongs to.

import type { Failure } from '#std/failure.ts';
import type { RunResult } from '../run/result.ts';

/** Secrets that another component keeps and may change at any time. */
export interface Secrets {
  /**
   * Returns the current secrets; each of them is valid, so that secrets can be replaced without a gap. Throws Failure
   * `secret-file-unreadable`.
   */
  values(): Promise<readonly string[]>;
}

/** Health of the program. Every reason is one sentence for a person. */
export interface Vitals {
  /** Returns why runs make no progress; undefined if runs progress, however slowly. */
  stuck(): string | undefined;
  /** Returns why clients should not rely on the program now; empty if it is ready. */
  unready(): readonly string[];
}

/** End of a run: its result, or the failure because of which it has no result. */
export type Ending = { readonly result: RunResult } | { readonly failure: Failure };

/** Receives the begin and the end of runs from the loop of runs. */
export interface RunWatcher {
  /** `reason` is `start`, `schedule`, `follow-up`, `source`, `watch`, `webhook` or `request`. */
  began(reason: string): void;
  ended(ending: Ending): void;
}

/** A read of a source. */
export interface SourceFetch {
  readonly source: string;
  readonly seconds: number;
  /** Code of the Failure; undefined if the read succeeded. */
  readonly failure?: string;
}

/**
 * Requests a run that begins after this moment. Several requests lead to one run. Returns false if a run was requested
 * already and has not begun.
 */
export type Trigger = (reason: 'webhook' | 'request') => boolean;

/** `began` and `ended` report a run. `fleet`: the state of the fleet has changed, or belongs to a newer run. */
export type FleetEvent = 'began' | 'ended' | 'fleet';

/** The fleet as the last run has observed it. */
export interface Fleet {
  /** Returns the state as JSON; equal states have equal tags. */
  state(): { readonly text: string; readonly tag: string };
  /** Returns one resource as JSON, read now; undefined if the last run had no resource with that id. */
  resource(id: string): Promise<string | undefined>;
  /** Returns the last lines of the logs of one resource as JSON, as `resource` does. */
  logs(id: string): Promise<string | undefined>;
  /** Returns what the pods of one resource report about their traffic as JSON, as `resource` does. */
  readings(id: string): Promise<string | undefined>;
  /** Reports events until the returned function is called, and `began` at once if a run is under way. */
  follow(notify: (event: FleetEvent) => void): () => void;
}

/** The history of runs as JSON, as `skep history -o json` prints it. Both methods throw Failure. */
export interface Runs {
  list(): Promise<string>;
  /** Finds a run by its id, or by the start of its id. Also throws Failure `run-not-found`. */
  find(start: string): Promise<string>;
}

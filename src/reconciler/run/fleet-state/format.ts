// Defines the state of a fleet for the console and its JSON route. Each source and resource has one entry.

/**
 * States of entries. `kept`: kept unchanged for the given reason. `drifted`: the resource differs from Git, or its
 * tools differ from the reviewed tools. `sleeping`: a person scaled the resource to zero. `not-run`: `skep dev` has no
 * program for the image of the resource. `unknown`: the state could not be determined.
 */
export const ENTRY_STATES = [
  'failed',
  'drifted',
  'kept',
  'degraded',
  'progressing',
  'unknown',
  'not-run',
  'sleeping',
  'healthy',
] as const;

export type EntryState = (typeof ENTRY_STATES)[number];

export const ENTRY_ROLES = ['source', 'group', 'server', 'virtual-server', 'registry', 'settings', 'other'] as const;

/** Role of an entry. `settings` are referenced by servers. `other` objects are not of our kinds. */
export type EntryRole = (typeof ENTRY_ROLES)[number];

export interface FleetEntry {
  /** Id of the form `namespace/Kind/name`, or `Source/name` for a source. */
  readonly id: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly role: EntryRole;
  readonly state: EntryState;
  /** Sentence with the reason of the state. */
  readonly why: string;
  /** Name of the source that declares the entry; absent if no source declares it any more. */
  readonly source?: string;
  /** First run in which this process found the current state. */
  readonly since: FleetMoment;
  /** Ids of the entries to which this entry refers: its group, its settings, registries that list it. */
  readonly uses: readonly string[];
  /** Number of objects that the resource owns. */
  readonly objects: number;
}

export interface FleetMoment {
  readonly run: string;
  /** Time in RFC 3339. */
  readonly at: string;
  /** True if the state may have begun earlier, before this process observed the fleet. */
  readonly atLeast?: true;
}

export interface FleetState {
  readonly version: 1;
  readonly instance: string;
  /** Last run that ended; absent until the first run has ended. */
  readonly run?: {
    readonly id: string;
    readonly at: string;
    /** Commit by name of the source. */
    readonly commits: Readonly<Record<string, string>>;
    /** Reason why the run wrote nothing; absent if the run was allowed to write. */
    readonly paused?: string;
    /** Failures of the run; absent if the run had no failures. */
    readonly failures?: readonly { readonly code: string; readonly message: string }[];
  };
  /** Number of entries by state. The record lacks states without entries. */
  readonly counts: Readonly<Partial<Record<EntryState, number>>>;
  /** Entries, sorted by role, namespace, kind and name. */
  readonly entries: readonly FleetEntry[];
}

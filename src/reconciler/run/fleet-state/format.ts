// Defines the state of a fleet as the console and its JSON route show it: one entry per source and resource, each with
// a state, a reason, and the entries that it names.

/**
 * `kept`: kept unchanged for the given reason. `drifted`: the resource differs from Git or from its review. `sleeping`:
 * a person scaled it to zero. `not-run`: no program of this machine runs in its place (`skep dev`). `unknown`: the
 * state could not be determined.
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

/** Role of an entry. `settings` are shared by servers; `other` objects are not of our kinds. */
export type EntryRole = (typeof ENTRY_ROLES)[number];

export interface FleetEntry {
  /** `namespace/Kind/name`; `Source/name` for a source. */
  readonly id: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly role: EntryRole;
  readonly state: EntryState;
  /** Reason of the state in one sentence. */
  readonly why: string;
  /** Name of the source that declares the entry; absent if no source declares it any more. */
  readonly source?: string;
  /** First run of this process that found this state. */
  readonly since: FleetMoment;
  /** Ids of the entries that this entry names: its group, registries that list it, settings. */
  readonly uses: readonly string[];
  /** Number of objects that belong to the entry. */
  readonly objects: number;
}

export interface FleetMoment {
  readonly run: string;
  /** Time in RFC 3339. */
  readonly at: string;
  /** True if the state may be older, because it was the same when the process began to observe. */
  readonly atLeast?: true;
}

export interface FleetState {
  readonly version: 1;
  readonly instance: string;
  /** Last run that ended; absent before the first run ended. */
  readonly run?: {
    readonly id: string;
    readonly at: string;
    /** Commit by name of the source. */
    readonly commits: Readonly<Record<string, string>>;
    /** Reason why the run wrote nothing; absent if it was free to write. */
    readonly paused?: string;
    /** Failures because of which the run did nothing, did not read everything, or did not end; absent without failures. */
    readonly failures?: readonly { readonly code: string; readonly message: string }[];
  };
  /** Number of entries by state; states without entries are left out. */
  readonly counts: Readonly<Partial<Record<EntryState, number>>>;
  /** Entries sorted by role, namespace, kind and name. */
  readonly entries: readonly FleetEntry[];
}

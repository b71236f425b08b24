// The state of a fleet as the console and its JSON route show it: one entry per source and resource, each with a state, a
// reason and the entries that it names.

/**
 * `kept`: kept unchanged, the reason says why. `drifted`: it differs from Git or from its review. `sleeping`: someone scaled it to
 * zero. `not-run`: no program of this machine stands for it (`skep dev`). `unknown`: nobody could find out.
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

/** The part that an entry plays; `settings` are shared by servers, `other` objects are not of our kinds. */
export type EntryRole = (typeof ENTRY_ROLES)[number];

export interface FleetEntry {
  /** `namespace/Kind/name`; of a source `Source/name`. */
  readonly id: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly role: EntryRole;
  readonly state: EntryState;
  /** One sentence. */
  readonly why: string;
  /** Name of the source that declares it; absent if none does any more. */
  readonly source?: string;
  /** The first run of this process that found this state. */
  readonly since: FleetMoment;
  /** Ids of entries that it names: its group, registries that list it, settings. */
  readonly uses: readonly string[];
  /** How many objects it is made of. */
  readonly objects: number;
}

export interface FleetMoment {
  readonly run: string;
  /** RFC 3339. */
  readonly at: string;
  /** True: it was so when the process began to look; it may have been so before. */
  readonly atLeast?: true;
}

export interface FleetState {
  readonly version: 1;
  readonly instance: string;
  /** The last run that ended; absent before the first. */
  readonly run?: {
    readonly id: string;
    readonly at: string;
    /** Commit by name of the source. */
    readonly commits: Readonly<Record<string, string>>;
    /** Why it wrote nothing; absent if it was free to. */
    readonly paused?: string;
    /** Why it could do nothing, or not read everything; absent if it could. */
    readonly failures?: readonly { readonly code: string; readonly message: string }[];
  };
  /** Number of entries by state; states without entries are left out. */
  readonly counts: Readonly<Partial<Record<EntryState, number>>>;
  /** By role, namespace, kind and name. */
  readonly entries: readonly FleetEntry[];
}

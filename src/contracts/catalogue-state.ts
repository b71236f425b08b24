// Defines the state of the sync of a registry's sources. The catalogue writes it, and MCPRegistry reads it for its
// status.

export interface SourceState {
  readonly phase: 'Syncing' | 'Complete' | 'Failed';
  readonly message: string;
  /** Whether a process syncs the source right now. The phase alone may come from a process that died. Never stored. */
  readonly claimed?: boolean;
  /** RFC 3339. */
  readonly lastAttempt?: string;
  /** Attempts since the last success. */
  readonly attemptCount: number;
  readonly lastSyncTime?: string;
  /** SHA-256 of the unfiltered content of the last success. Kept after failures. */
  readonly lastSyncHash?: string;
  /** Digest of the filter that the stored entries passed. */
  readonly filterHash?: string;
  /** Digest of origin, format and filter at the last attempt. A change makes the source due at once. */
  readonly declarationHash?: string;
  readonly serverCount: number;
  /** Number of entries of the last content that were invalid and left out. */
  readonly rejectedCount: number;
  /** Time since which the source has been read as empty although its earlier entries are served (RFC 3339). */
  readonly emptySince?: string;
  /** Last processed value of the `sync-trigger` annotation. */
  readonly trigger?: string;
  /**
   * Value of the `sync-trigger` annotation. The process that reads the annotation leaves it here for the process that
   * syncs the source.
   */
  readonly requestedTrigger?: string;
  /** Number of manual syncs that clients of the service have requested. */
  readonly requests?: number;
  /** Number of these client requests that had arrived by the last attempt. */
  readonly requestsServed?: number;
  /**
   * The state for the next read, from the last successful one. It is valid for the declarationHash in `declaration`.
   */
  readonly resume?: Resume & { readonly declaration: string };
}

/**
 * Entity tags, times and the like, with which the next read of a source transfers only changes. Each kind of source has
 * its own names.
 */
export type Resume = Readonly<Record<string, string>>;

/** States by `registries[].name`. Sources that never synced are absent. */
export type CatalogueState = Readonly<Record<string, SourceState>>;

// How far the sync of a registry's sources is: written by the catalogue, read by MCPRegistry's status.

export interface SourceState {
  readonly phase: 'Syncing' | 'Complete' | 'Failed';
  readonly message: string;
  /** Someone syncs it right now; the phase alone may be that of a process that died. Never recorded. */
  readonly claimed?: boolean;
  /** RFC 3339. */
  readonly lastAttempt?: string;
  /** Attempts since the last success. */
  readonly attemptCount: number;
  readonly lastSyncTime?: string;
  /** SHA-256 of the unfiltered content of the last success; kept over failures. */
  readonly lastSyncHash?: string;
  /** Digest of the filter that the stored entries passed. */
  readonly filterHash?: string;
  /** Digest of origin, format and filter as of the last attempt: an edit makes the source due at once. */
  readonly declarationHash?: string;
  readonly serverCount: number;
  /** Entries of the last content that were invalid and left out. */
  readonly rejectedCount: number;
  /** RFC 3339; since when the source has been read as empty although entries of it are served. */
  readonly emptySince?: string;
  /** Last processed value of the `sync-trigger` annotation. */
  readonly trigger?: string;
  /** Value of that annotation, as left by who sees it for who syncs the source. */
  readonly wantedTrigger?: string;
  /** How many manual syncs clients of the service have asked for. */
  readonly requests?: number;
  /** How many of them there were at the last attempt. */
  readonly requestsServed?: number;
  /** Of the last read that was taken over; `declaration` is the declarationHash it is true for. */
  readonly resume?: Resume & { readonly declaration: string };
}

/**
 * What the next read of a source gets, so that the source need not give everything again: entity tags, times. Only
 * the reader of that kind of source knows the names.
 */
export type Resume = Readonly<Record<string, string>>;

/** By `registries[].name`; sources that never synced are absent. */
export type CatalogueState = Readonly<Record<string, SourceState>>;

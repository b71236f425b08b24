// Defines the sync states of a registry's sources. The catalogue writes these states, and the status of an MCPRegistry
// shows them.

export interface SourceState {
  readonly phase: 'Syncing' | 'Complete' | 'Failed';
  readonly message: string;
  /** True while a process syncs the source. Never stored. Unlike `phase`, becomes false if the process dies. */
  readonly claimed?: boolean;
  /** RFC 3339. */
  readonly lastAttempt?: string;
  /** Number of attempts since the last success. */
  readonly attemptCount: number;
  readonly lastSyncTime?: string;
  /** SHA-256 of the unfiltered content of the last successful attempt. Failed attempts do not change it. */
  readonly lastSyncHash?: string;
  /** Digest of the filter with which the stored entries were selected. */
  readonly filterHash?: string;
  /** Digest of origin, format and filter at the last attempt. After a change, the source is due at once. */
  readonly declarationHash?: string;
  readonly serverCount: number;
  /** Number of invalid entries that were left out of the last content. */
  readonly rejectedCount: number;
  /** Time since which the source has been empty (RFC 3339). Its earlier entries are still served. */
  readonly emptySince?: string;
  /** Value of the `sync-trigger` annotation that was processed last. */
  readonly trigger?: string;
  /** Value of the `sync-trigger` annotation, which one process stores for the process that syncs the source. */
  readonly requestedTrigger?: string;
  /** Number of manual syncs that clients have requested. */
  readonly requests?: number;
  /** Value of `requests` at the last attempt. */
  readonly requestsServed?: number;
  /**
   * State for the next read, from the last successful read. It applies only while declarationHash equals `declaration`.
   */
  readonly resume?: Resume & { readonly declaration: string };
}

/**
 * Values such as entity tags and times, with which the next read of a source transfers only changes. Each type of
 * origin has its own keys.
 */
export type Resume = Readonly<Record<string, string>>;

/** States by `registries[].name`, without sources that were never synced. */
export type CatalogueState = Readonly<Record<string, SourceState>>;

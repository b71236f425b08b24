// Defines the ports of the catalogue: registry sources, and the store of entries.

import type { CatalogueState, Resume, SourceState } from '#contracts/catalogue-state.ts';
import type { Origin, SourceFormat } from '#contracts/registry/source.ts';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { CatalogueEntry, EntryStatus, StoredEntry } from './entry.ts';

/**
 * Identifies a source of an MCPRegistry. The stand-alone service uses the namespace and registry name in its
 * configuration.
 */
export interface SourceKey {
  readonly namespace: string;
  /** Name of the MCPRegistry. */
  readonly registry: string;
  /** Name of the source: `registries[].name`. */
  readonly source: string;
}

/** A file, or a page of a list. */
export interface Document {
  readonly text: string;
  /** Origin of the text for messages: a URL with path and commit, or `ConfigMap ns/name key`. */
  readonly location: string;
}

export interface Content {
  /** One document, or all pages of a list. */
  readonly documents: readonly Document[];
  /** `changes` contains only entries that changed since the read that returned `resume`. */
  readonly extent: 'whole' | 'changes';
  /** Detected format. If absent, the declared format applies. */
  readonly format?: SourceFormat;
  /** Value for the next read. Used only once this content is stored. */
  readonly resume?: Resume;
}

export interface ReadRequest<O> {
  readonly origin: O;
  readonly key: SourceKey;
  /** Value from the last stored content. If absent, the whole content must be read. */
  readonly resume?: Resume;
  /** Aborted if the content is no longer needed. */
  readonly signal: AbortSignal;
  /**
   * Receives the number of received bytes while the content arrives. The source awaits the returned promise before it
   * reads more.
   */
  readonly arrived?: (bytes: number) => Promise<void> | undefined;
}

/** Reads sources with origins of the type `O`. */
export interface SourceReader<O = Origin> {
  /**
   * Reads a source. Returns `unchanged` if the content is equal to the content of the read that returned `resume`.
   * Throws a Failure whose message names the URL: `source-unreachable`, `source-auth-required`, `source-not-found`, or
   * a code of the adapter.
   */
  read(request: ReadRequest<O>): Promise<Content | 'unchanged'>;
}

export interface WriteCounts {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Number of rows without an entry that `hold` keeps. */
  readonly held: number;
}

/** Returns whether a version that is missing in a source is kept. Its entry may be temporarily broken. */
export type Hold = (name: string, version: string) => boolean;

/** Writes the results of a sync. Throws Failure `database-unreachable` if the database is unreachable. */
export interface SourceWriter {
  /**
   * Stores `entries` as the whole content of the source, and `state`, in one transaction. Unchanged rows are not
   * written. Rows without an entry get the status `deleted` unless `hold` keeps them. `now` returns RFC 3339, and is
   * called at the write, and again before other connections see the change.
   */
  replace(
    key: SourceKey,
    entries: readonly CatalogueEntry[],
    state: SourceState | ((written: WriteCounts) => SourceState),
    now: () => string,
    hold?: Hold,
  ): Promise<WriteCounts>;
  /** Records an attempt that failed or found no news. Entries stay unchanged. */
  record(key: SourceKey, state: SourceState): Promise<void>;
}

/**
 * The exclusive right to sync a source. `replace`, `record` and `release` end the claim. The claim of a process that
 * dies ends within a minute. Writing throws Failure `catalogue-claim-lost` if another process has the claim.
 */
export interface Claim extends SourceWriter {
  /** State of the source when the claim was granted. */
  readonly state: SourceState;
  /** Aborted if the claim is lost. */
  readonly signal: AbortSignal;
  /** Ends the claim. No effect if the claim has already ended. */
  release(): Promise<void>;
}

/**
 * The writing side of the store, for the sync engine. Each method throws Failure `database-unreachable` if the database
 * is unreachable.
 */
export interface CatalogueWriter extends SourceWriter {
  /** Returns the states of all sources of the registry. A source with a claim has the phase `Syncing`. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Claims a source. Returns undefined if another process has the claim. */
  claim(key: SourceKey): Promise<Claim | undefined>;
  /** Stores the value of the manual trigger for the process that syncs the source. */
  leaveTrigger(key: SourceKey, trigger: string): Promise<void>;
  /** Deletes the data of sources that the registry no longer declares. */
  retain(registry: Omit<SourceKey, 'source'>, sources: readonly string[]): Promise<void>;
  /** Returns the images of all entries of the registry that are not deleted. */
  images(registry: Omit<SourceKey, 'source'>): Promise<ReadonlySet<string>>;
  /** Returns the documents that may state the provenance of images, as JSON text. */
  provenance(registry: Omit<SourceKey, 'source'>): Promise<readonly string[]>;
  /**
   * Stores `servers` as all servers of the reconciler, or as all its servers in `namespace`. Servers of other
   * reconcilers stay. Writes nothing if the same servers were written recently.
   */
  recordRunning(runner: Runner, servers: readonly RunningServer[], namespace?: string): Promise<void>;
}

/** Identifies a reconciler. */
export interface Runner {
  readonly instance: string;
  readonly homeNamespace: string;
}

/**
 * `changed` orders by the time of the last change: the publisher's time, or the catalogue's time if the publisher
 * states none. `stars` orders by stars of the repository, and `pulls` by pulls of the image.
 */
export type ListOrder = 'changed' | 'stars' | 'pulls';

/** Position of the last entry of a page. */
export interface ListPosition {
  readonly name: string;
  readonly version: string;
  /** Value by which the entry was ordered. Set only with `sort`. The entry's value may have changed since. */
  readonly rank?: number;
}

export interface ListQuery {
  /** From 1 to 100. */
  readonly limit: number;
  /** Returns only entries after this position in the requested order. Names and versions are ordered by code point. */
  readonly after?: ListPosition;
  /**
   * Words in any letter case. Each word must occur in the name, title, description, a tag or a tool name. Wildcards
   * have no meaning.
   */
  readonly search?: string;
  /**
   * If absent, entries are ordered by name. Otherwise values descend, entries without a value come last, and equal
   * values are ordered by name.
   */
  readonly sort?: ListOrder;
  /** Returns only entries that changed after this RFC 3339 time. */
  readonly updatedSince?: string;
  /** `latest` or an exact version. */
  readonly version?: string;
  readonly includeDeleted: boolean;
  /** Returns only entries with all of these tags. */
  readonly tags?: readonly string[];
  /** Returns only entries of one of these tiers, in any letter case. */
  readonly tiers?: readonly string[];
  readonly statuses?: readonly EntryStatus[];
  /** Returns only entries with one of these transports. */
  readonly transports?: readonly string[];
}

export interface ListPage {
  /** Revision of the source from which this page was read. */
  readonly revision: string;
  readonly entries: readonly StoredEntry[];
  /** Position for `after` of the next page. Absent on the last page. */
  readonly next?: ListPosition;
}

/** A value, and the number of servers with this value. */
export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

/** The filters of a list. */
export type FacetQuery = Omit<ListQuery, 'limit' | 'after' | 'sort'>;

/**
 * Values for further filters, most frequent first. Counts ignore the filters of the same group, except for tags: an
 * entry must have all requested tags, so filters by tags stay in effect.
 */
export interface Facets {
  /** Number of matching entries. */
  readonly total: number;
  readonly tags: readonly FacetCount[];
  readonly tiers: readonly FacetCount[];
  readonly statuses: readonly FacetCount[];
  readonly transports: readonly FacetCount[];
}

/** Running servers of a namespace. The store returns the same object while they are unchanged. */
export interface RunningFound {
  /** Ordered by name. Readers may see only the fields that `shownServers` selects. */
  readonly servers: readonly RunningServer[];
  /** JSON documents of the registry that may describe one of the servers. */
  readonly documents: readonly string[];
}

/** The reading side of the store, for the registry service. */
export interface CatalogueReader {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  /**
   * Returns versions, newest publication first. Contains deleted versions if `includeDeleted`. Returns an empty list
   * for an unknown server.
   */
  versions(key: SourceKey, name: string, includeDeleted: boolean): Promise<readonly StoredEntry[]>;
  /**
   * Returns a version. `version` may be `latest`, which is a deleted version only if all versions are deleted. Returns
   * a deleted version only if `includeDeleted`.
   */
  version(key: SourceKey, name: string, version: string, includeDeleted: boolean): Promise<StoredEntry | undefined>;
  /** Counts the values of matching entries. Without `query`, counts the latest versions that are not deleted. */
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
  /** Returns a text that changes with the content of the source. ETags are derived from it. */
  revision(key: SourceKey): Promise<string>;
  /** Returns the states of all sources of the registry. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Returns the servers of all reconcilers that run in the registry's namespace. */
  running(registry: Omit<SourceKey, 'source'>): Promise<RunningFound>;
  /** Requests a sync by any process. No effect on a source that was never synced, which is due already. */
  requestSync(key: SourceKey): Promise<void>;
  /** Resolves if the database responds and has the required schema. */
  ping(): Promise<void>;
}

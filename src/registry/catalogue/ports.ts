// Declares the ports of the catalogue: sources that it reads, and a store of its entries.

import type { CatalogueState, Resume, SourceState } from '#contracts/catalogue-state.ts';
import type { Origin, SourceFormat } from '#contracts/registry/source.ts';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { Entry, Status, StoredEntry } from './entry.ts';

/** One source of one MCPRegistry. The stand-alone service uses its configured namespace and registry name. */
export interface SourceKey {
  readonly namespace: string;
  /** Name of the MCPRegistry. */
  readonly registry: string;
  /** `registries[].name`. */
  readonly source: string;
}

/** A file, or one page of a list. */
export interface Document {
  readonly text: string;
  /** Origin of the text, for messages: a URL with path and commit, or `ConfigMap ns/name key`. */
  readonly location: string;
}

/** The content of a source at one moment. */
export interface Content {
  /** One document, or all pages of a list. */
  readonly documents: readonly Document[];
  /** `changes`: only the changes since the read that returned `resume`; everything else is unchanged. */
  readonly extent: 'whole' | 'changes';
  /** The detected format; absent: the declared one. */
  readonly format?: SourceFormat;
  /** Value for the next read, valid once this content is stored. */
  readonly resume?: Resume;
}

export interface ReadRequest<O> {
  readonly origin: O;
  readonly key: SourceKey;
  /** Value of the last stored content; absent: everything has to be read. */
  readonly resume?: Resume;
  /** Aborted if the content is no longer needed. */
  readonly signal: AbortSignal;
  /**
   * If the content arrives in parts, called with the number of bytes so far. The returned promise is awaited before
   * more is read.
   */
  readonly arrived?: (bytes: number) => Promise<void> | undefined;
}

/** `O`: the origins that it can read. */
export interface Source<O = Origin> {
  /**
   * Reads a source; `unchanged`: its content is the same as at the read that returned `resume`. Throws a Failure
   * (`source-unreachable`, `source-auth-required`, `source-not-found`, or one of the adapter's own codes) whose message
   * names the URL.
   */
  read(request: ReadRequest<O>): Promise<Content | 'unchanged'>;
}

export interface Written {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Rows that the entries do not contain and that stay because of `hold`. */
  readonly held: number;
}

/** Returns whether a version that disappeared from a source stays unchanged: its entry may just be broken now. */
export type Hold = (name: string, version: string) => boolean;

/** Writes the results of one sync. Throws Failure `database-unreachable` if the database is unreachable. */
export interface SourceWriter {
  /**
   * Stores `entries` as the whole content of the source, in one transaction with `state`. Rows with unchanged content
   * are not written. Missing ones become tombstones (status `deleted`) unless `hold` keeps them. `now` returns RFC
   * 3339; it is called when the change is written, and again before others see it.
   */
  replace(
    key: SourceKey,
    entries: readonly Entry[],
    state: SourceState | ((written: Written) => SourceState),
    now: () => string,
    hold?: Hold,
  ): Promise<Written>;
  /** Records a failed attempt, or one that found nothing new. Leaves the entries unchanged. */
  record(key: SourceKey, state: SourceState): Promise<void>;
}

/**
 * The exclusive right to sync one source. It lasts until `replace`, `record` or `release` ends it; if its process dies,
 * it ends within a minute. Writing throws Failure `catalogue-claim-lost` if another process has the claim now.
 */
export interface Claim extends SourceWriter {
  /** State of the source, by the last write of any process. */
  readonly state: SourceState;
  /** Aborted if the claim is lost. */
  readonly signal: AbortSignal;
  /** Does nothing if the claim has ended. */
  release(): Promise<void>;
}

/**
 * The writing side, for the sync engine only. Every method throws Failure `database-unreachable` if the database is
 * unreachable.
 */
export interface CatalogueWriter extends SourceWriter {
  /** Returns the state of each source; `Syncing` if a process has a claim. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Returns undefined if another process syncs the source. Any number of processes may try. */
  claim(key: SourceKey): Promise<Claim | undefined>;
  /** Stores the value of the manual trigger for the process that syncs the source. */
  leaveTrigger(key: SourceKey, trigger: string): Promise<void>;
  /** Deletes the data of sources that the registry no longer declares. */
  retain(registry: Omit<SourceKey, 'source'>, sources: readonly string[]): Promise<void>;
  /** Returns the images of all entries of the registry that are not deleted. */
  images(registry: Omit<SourceKey, 'source'>): Promise<ReadonlySet<string>>;
  /** Returns the documents of the same entries as text, if they may state a provenance of their images. */
  provenance(registry: Omit<SourceKey, 'source'>): Promise<readonly string[]>;
  /**
   * Stores `servers` as all servers that the reconciler runs, or all that it runs in the namespace. Servers of other
   * reconcilers stay. Nothing is written if the store has the same servers and was written recently.
   */
  recordRunning(runner: Runner, servers: readonly RunningServer[], namespace?: string): Promise<void>;
}

/** A reconciler. */
export interface Runner {
  readonly instance: string;
  readonly homeNamespace: string;
}

/**
 * `changed`: the last change according to the publisher, or else to the catalogue. `stars` of the repository. `pulls`
 * of the image.
 */
export type Sort = 'changed' | 'stars' | 'pulls';

/** The end of a page. */
export interface ListPosition {
  readonly name: string;
  readonly version: string;
  /**
   * Value by which the version was ordered, only with `sort`. It may have changed since, and with it the place of the
   * version.
   */
  readonly rank?: number;
}

export interface ListQuery {
  /** 1..100. */
  readonly limit: number;
  /** Entries strictly after this position, in the requested order; names and versions are ordered by code point. */
  readonly after?: ListPosition;
  /**
   * Words in any case of letters. Each must be a part of the name, the title, the description, a tag or the name of a
   * tool. There are no wildcards.
   */
  readonly search?: string;
  /**
   * Absent: by name. Otherwise descending; entries without a value come last, and entries with equal values are ordered
   * by name.
   */
  readonly sort?: Sort;
  /** Entries that changed strictly later than this RFC 3339 time. */
  readonly updatedSince?: string;
  /** `latest` or an exact version. */
  readonly version?: string;
  readonly includeDeleted: boolean;
  /** Entries that have all of these tags. */
  readonly tags?: readonly string[];
  /** Entries of one of these tiers, in any case of letters. */
  readonly tiers?: readonly string[];
  readonly statuses?: readonly Status[];
  /** Entries with one of these transports. */
  readonly transports?: readonly string[];
}

export interface ListPage {
  /** Revision of the source that this page was read from. */
  readonly revision: string;
  readonly entries: readonly StoredEntry[];
  /** The position after which the next page begins; absent on the last page. */
  readonly next?: ListPosition;
}

/** Number of servers with a value. */
export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

/** The filters of a list, which decide which entries it has. */
export type FacetQuery = Omit<ListQuery, 'limit' | 'after' | 'sort'>;

/**
 * Values by which the matching entries can be filtered further, most frequent first. Values are counted without the
 * filters of their own group. Tags are the exception: an entry must have all chosen tags, so they are counted with
 * their filters.
 */
export interface Facets {
  /** Number of matching entries. */
  readonly total: number;
  readonly tags: readonly FacetCount[];
  readonly tiers: readonly FacetCount[];
  readonly statuses: readonly FacetCount[];
  readonly transports: readonly FacetCount[];
}

/** The same object as long as nothing changes. */
export interface RunningFound {
  /** Ordered by name. Readers may not see all fields: `shownServers` selects them. */
  readonly servers: readonly RunningServer[];
  /** JSON documents of the registry that may describe one of the servers. */
  readonly documents: readonly string[];
}

/** The reading side, for the registry service. */
export interface CatalogueReader {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  /** Returns the newest publication first, and deleted versions only on request; empty if the server is unknown. */
  versions(key: SourceKey, name: string, includeDeleted: boolean): Promise<readonly StoredEntry[]>;
  /**
   * `version` may be `latest`, which is a deleted version if all are deleted. Deleted versions are found only on
   * request.
   */
  version(key: SourceKey, name: string, version: string, includeDeleted: boolean): Promise<StoredEntry | undefined>;
  /** If `query` is absent, counts the latest versions without deleted ones. */
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
  /** Returns a text that changes whenever the content of the source changes: the base of ETags. */
  revision(key: SourceKey): Promise<string>;
  /** Returns the state of the sync of each source. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Returns the servers that run in the namespace of the registry, of any reconciler. */
  running(registry: Omit<SourceKey, 'source'>): Promise<RunningFound>;
  /**
   * Makes the source due for any process that syncs it. Does nothing for a source that never synced, which is due
   * anyway.
   */
  requestSync(key: SourceKey): Promise<void>;
  /** Resolves if the database responds and has the schema that reading needs. */
  ping(): Promise<void>;
}

// Declares the ports of the catalogue: the sources that are read, and the store of the entries.

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
  /** `changes`: only the changes since the read that returned `resume`; other entries are unchanged. */
  readonly extent: 'whole' | 'changes';
  /** The detected format; if absent, the declared format. */
  readonly format?: SourceFormat;
  /** Value for the next read, valid once this content is stored. */
  readonly resume?: Resume;
}

export interface ReadRequest<O> {
  readonly origin: O;
  readonly key: SourceKey;
  /** Value of the last stored content. If absent, the whole content has to be read. */
  readonly resume?: Resume;
  /** Aborted if the content is no longer needed. */
  readonly signal: AbortSignal;
  /**
   * Receives the number of bytes so far, if the content arrives in parts. The source awaits the returned promise before
   * it reads more.
   */
  readonly arrived?: (bytes: number) => Promise<void> | undefined;
}

/** Reads sources. `O`: the origins that it can read. */
export interface Source<O = Origin> {
  /**
   * Reads a source. Returns `unchanged` if the content is the same as at the read that returned `resume`. Throws a
   * Failure (`source-unreachable`, `source-auth-required`, `source-not-found`, or a code of the adapter) whose message
   * names the URL.
   */
  read(request: ReadRequest<O>): Promise<Content | 'unchanged'>;
}

export interface Written {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Number of rows that stay because of `hold`, although the entries do not contain them. */
  readonly held: number;
}

/** Returns whether a version that disappeared from a source stays unchanged: its entry may just be broken now. */
export type Hold = (name: string, version: string) => boolean;

/** Writes the results of one sync. Throws Failure `database-unreachable` if the database is unreachable. */
export interface SourceWriter {
  /**
   * Stores `entries` as the whole content of the source, in one transaction with `state`. Rows with unchanged content
   * are not written. Rows of missing entries become tombstones (status `deleted`) unless `hold` keeps them. `now`
   * returns RFC 3339; it is called when the change is written, and again before other connections see it.
   */
  replace(
    key: SourceKey,
    entries: readonly Entry[],
    state: SourceState | ((written: Written) => SourceState),
    now: () => string,
    hold?: Hold,
  ): Promise<Written>;
  /** Records a failed attempt, or an attempt without news. Leaves the entries unchanged. */
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
  /** Returns, as text, the documents of these entries that may state a provenance of their images. */
  provenance(registry: Omit<SourceKey, 'source'>): Promise<readonly string[]>;
  /**
   * Stores `servers` as all servers that the reconciler runs, or that it runs in the namespace. Servers of other
   * reconcilers stay. Nothing is written if the store has the same servers and was written recently.
   */
  recordRunning(runner: Runner, servers: readonly RunningServer[], namespace?: string): Promise<void>;
}

/** Identifies a reconciler. */
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
   * Value by which the version was ordered; only with `sort`. The value, and with it the place of the version, may have
   * changed since then.
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
   * If absent, entries are ordered by name. Otherwise by descending values: entries without a value come last, and
   * entries with equal values are ordered by name.
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

/** A value, and the number of servers with it. */
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

/** Running servers. The store returns the same object as long as nothing changes. */
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
   * `version` may be `latest`, which is a deleted version if all versions are deleted. Deleted versions are returned
   * only on request.
   */
  version(key: SourceKey, name: string, version: string, includeDeleted: boolean): Promise<StoredEntry | undefined>;
  /** Counts the values of matching entries. If `query` is absent, counts the latest versions that are not deleted. */
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
  /** Returns a text that changes whenever the content of the source changes: the base of ETags. */
  revision(key: SourceKey): Promise<string>;
  /** Returns the state of the sync of each source. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Returns the servers that run in the namespace of the registry, of any reconciler. */
  running(registry: Omit<SourceKey, 'source'>): Promise<RunningFound>;
  /**
   * Makes the source due for any process that syncs it. Does nothing for a source that was never synced, because it is
   * due already.
   */
  requestSync(key: SourceKey): Promise<void>;
  /** Resolves if the database responds and has the schema that reading needs. */
  ping(): Promise<void>;
}

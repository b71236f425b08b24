// What the catalogue needs of the world: somewhere to read sources from, and a store of record.

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
  /** Where the text is from, for messages: a URL with path and commit, or `ConfigMap ns/name key`. */
  readonly location: string;
}

/** The content of a source at one moment. */
export interface Content {
  /** One; of a list that comes in pages, all of them. */
  readonly documents: readonly Document[];
  /** `changes`: only what changed since the read that gave `resume`; everything else is as it was. */
  readonly extent: 'whole' | 'changes';
  /** What the source turned out to be; absent: what it was declared as. */
  readonly format?: SourceFormat;
  /** For the next read, once this content is taken over. */
  readonly resume?: Resume;
}

export interface ReadRequest<O> {
  readonly origin: O;
  readonly key: SourceKey;
  /** What the last content that was taken over left; absent: everything is wanted. */
  readonly resume?: Resume;
  /** Aborted where no one waits for the content any more. */
  readonly signal: AbortSignal;
  /** Where content arrives little by little: reports how many bytes there are; what it gives is awaited before more are taken in. */
  readonly arrived?: (bytes: number) => Promise<void> | undefined;
}

/** `O`: the origins it can read. */
export interface Source<O = Origin> {
  /**
   * Reads a source; `unchanged`: it is as it was when `resume` was given. Throws a Failure (`source-unreachable`,
   * `source-auth-required`, `source-not-found`, or one of the adapter's own codes) whose message names the URL.
   */
  read(request: ReadRequest<O>): Promise<Content | 'unchanged'>;
}

export interface Written {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Rows that are missing from the entries and stay, because `hold` said so. */
  readonly held: number;
}

/** Whether a version that vanished from a source stays as it is: its entry may just be broken now. */
export type Hold = (name: string, version: string) => boolean;

/** Writes what one sync found. Throws Failure `database-unreachable` where it is. */
export interface SourceWriter {
  /**
   * Makes `entries` the whole content of the source, in one transaction with `state`. Rows whose content did not
   * change are not written; vanished ones become tombstones (status `deleted`) unless `hold` keeps them. `now`: RFC 3339;
   * it is asked when the change is written, and again before others see it.
   */
  replace(
    key: SourceKey,
    entries: readonly Entry[],
    state: SourceState | ((written: Written) => SourceState),
    now: () => string,
    hold?: Hold,
  ): Promise<Written>;
  /** Records a failed attempt, or one that found nothing new. Leaves the entries as they are. */
  record(key: SourceKey, state: SourceState): Promise<void>;
}

/**
 * The right to sync one source, which no other has meanwhile. It is kept up until `replace`, `record` or `release`
 * ends it; that of a process that died ends by itself within a minute. Writing throws Failure `catalogue-claim-lost`
 * where someone else has it by now.
 */
export interface Claim extends SourceWriter {
  /** How far the source is: what was written until now, by whomever. */
  readonly state: SourceState;
  /** Aborted where the claim is lost. */
  readonly signal: AbortSignal;
  /** Nothing to do where it has ended. */
  release(): Promise<void>;
}

/** The writing side: used by the sync engine only. Every method throws Failure `database-unreachable` where it is. */
export interface CatalogueWriter extends SourceWriter {
  /** How far each source is; `Syncing` where someone has a claim. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** Undefined: someone else syncs the source. Any number of processes may try. */
  claim(key: SourceKey): Promise<Claim | undefined>;
  /** Leaves the value of the manual trigger for the process that syncs the source. */
  leaveTrigger(key: SourceKey, trigger: string): Promise<void>;
  /** Removes what belongs to sources of the registry that are no longer declared. */
  retain(registry: Omit<SourceKey, 'source'>, sources: readonly string[]): Promise<void>;
  /** Images of all entries of the registry that are not deleted. */
  images(registry: Omit<SourceKey, 'source'>): Promise<ReadonlySet<string>>;
  /** Documents of the same entries, as text, as far as they may state a provenance of their images. */
  provenance(registry: Omit<SourceKey, 'source'>): Promise<readonly string[]>;
  /**
   * Makes `servers` all that the reconciler runs, or all that it runs in the namespace; what others run stays. Nothing is written
   * where it is so already, and was written lately.
   */
  recordRunning(runner: Runner, servers: readonly RunningServer[], namespace?: string): Promise<void>;
}

/** A reconciler. */
export interface Runner {
  readonly instance: string;
  readonly homeNamespace: string;
}

/** Last change as the publisher says, else as the catalogue saw it; stars of the repository; pulls of the image. */
export type Sort = 'changed' | 'stars' | 'pulls';

/** Where a page ended. */
export interface ListPosition {
  readonly name: string;
  readonly version: string;
  /** What the version was ordered by, only with `sort`: by now it may be another number, and stand elsewhere. */
  readonly rank?: number;
}

export interface ListQuery {
  /** 1..100. */
  readonly limit: number;
  /** Strictly after this, in the order that is asked for; names and versions by code point. */
  readonly after?: ListPosition;
  /** Words, in any case; each is a part of the name, the title, the description, a tag or the name of a tool. No wildcards. */
  readonly search?: string;
  /** Absent: by name. Descending; what has no such number comes last, and equals by name. */
  readonly sort?: Sort;
  /** Strictly later than this RFC 3339 time. */
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
  /** Of the source, that the page is of. */
  readonly revision: string;
  readonly entries: readonly StoredEntry[];
  /** What the next page is after; absent where no more entries follow. */
  readonly next?: ListPosition;
}

/** How many servers have a value. */
export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

/** What is counted: everything that decides which entries a list has. */
export type FacetQuery = Omit<ListQuery, 'limit' | 'after' | 'sort'>;

/**
 * What the entries that fit can be narrowed by, most frequent first. What a further value would add to its own group is
 * counted without that group; tags are narrowed by all of them, so they are counted with it.
 */
export interface Facets {
  /** Entries that fit. */
  readonly total: number;
  readonly tags: readonly FacetCount[];
  readonly tiers: readonly FacetCount[];
  readonly statuses: readonly FacetCount[];
  readonly transports: readonly FacetCount[];
}

/** The same object for as long as nothing changes. */
export interface RunningFound {
  /** By name. Not all of it is for readers: `shownServers`. */
  readonly servers: readonly RunningServer[];
  /** Documents of the registry that may stand for one of them. JSON. */
  readonly documents: readonly string[];
}

/** The reading side: used by the registry service. */
export interface CatalogueReader {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  /** Newest publication first; deleted ones only on request; empty where the server is unknown. */
  versions(key: SourceKey, name: string, includeDeleted: boolean): Promise<readonly StoredEntry[]>;
  /** `version` may be `latest`: a deleted one where all are. Deleted ones are found on request only. */
  version(key: SourceKey, name: string, version: string, includeDeleted: boolean): Promise<StoredEntry | undefined>;
  /** `query` absent: of the latest versions, without deleted ones. */
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
  /** A text that changes whenever the content of the source does: the base of ETags. */
  revision(key: SourceKey): Promise<string>;
  /** How far the sync of each source is. */
  states(registry: Omit<SourceKey, 'source'>): Promise<CatalogueState>;
  /** What runs in the namespace of the registry, whoever runs it. */
  running(registry: Omit<SourceKey, 'source'>): Promise<RunningFound>;
  /** Makes the source due, whoever syncs it; nothing to do for one that never synced and so is due anyway. */
  requestSync(key: SourceKey): Promise<void>;
  /** Resolves where the database answers and has what reading needs. */
  ping(): Promise<void>;
}

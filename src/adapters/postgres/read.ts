// The statements that read the catalogue, and rows as entries.

import type pg from 'pg';
import type { FacetCount, Facets, ListPage, ListQuery, SourceKey, StoredEntry } from '../../catalogue/ports.ts';
import type { CatalogueState, SourceState } from '../../contracts/catalogue-state.ts';
import { compareVersions } from '../../std/versions.ts';
import { gramsOf } from './grams.ts';
import { foldCase, storable } from './write.ts';

const COLUMNS = `e.name, e.version, e.document::text as document, e.status, e.status_message, e.is_latest,
  e.published_at, e.updated_at, coalesce(e.status_changed_at, e.published_at) as status_changed_at`;

/** A subquery and no join: only so the primary key gives the order of a page without sorting the whole source. */
const FROM_SOURCE = `from catalogue_entry e where e.source_id =
  (select id from catalogue_source where namespace = $1 and registry = $2 and source = $3)`;

interface EntryRow {
  readonly name: string;
  readonly version: string;
  readonly document: string;
  readonly status: StoredEntry['status'];
  readonly is_latest: boolean;
  readonly published_at: Date;
  readonly updated_at: Date;
  readonly status_message: string | null;
  readonly status_changed_at: Date;
}

interface SourceRow {
  readonly source: string;
  readonly phase: SourceState['phase'];
  readonly message: string;
  readonly last_attempt: Date | null;
  readonly attempt_count: number;
  readonly last_sync_time: Date | null;
  readonly last_sync_hash: string | null;
  readonly filter_hash: string | null;
  readonly declaration_hash: string | null;
  readonly server_count: number;
  readonly rejected_count: number;
  readonly manual_trigger: string | null;
  /** `bigint`, which pg gives as text. */
  readonly requests: string;
  readonly requests_served: string;
  readonly wanted_trigger: string | null;
  readonly resume: SourceState['resume'] | null;
}

/** Columns of SourceRow but the phase. */
const STATE_COLUMNS = `message, last_attempt, attempt_count, last_sync_time, last_sync_hash, filter_hash,
  declaration_hash, server_count, rejected_count, manual_trigger, requests, requests_served, wanted_trigger, resume`;

/** One row more than asked for tells whether there are more. */
export async function listEntries(client: pg.Client, key: SourceKey, query: ListQuery): Promise<ListPage> {
  const values: unknown[] = [key.namespace, key.registry, key.source];
  const conditions = conditionsOf(query, (value) => `$${values.push(bindable(value))}`);
  const limit = `$${values.push(query.limit + 1)}`;
  const { rows } = await client.query<EntryRow>(
    `select ${COLUMNS} ${FROM_SOURCE} ${conditions.map((condition) => `and ${condition}`).join(' ')}
     order by e.name, e.version limit ${limit}`,
    values,
  );
  return { entries: rows.slice(0, query.limit).map(toEntry), more: rows.length > query.limit };
}

type Bind = (value: string | readonly string[]) => string;

function bindable(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? storable(value) : value.map(storable);
}

function conditionsOf(query: ListQuery, bind: Bind): string[] {
  const conditions: string[] = [];
  const { after, search, updatedSince, version, includeDeleted } = query;
  if (after !== undefined) conditions.push(`(e.name, e.version) > (${bind(after.name)}, ${bind(after.version)})`);
  if (search !== undefined && search !== '') conditions.push(...searchConditions(foldCase(search), bind));
  if (updatedSince !== undefined) {
    // As a number: PostgreSQL reads no year 0, RFC 3339 has one.
    conditions.push(`e.updated_at > to_timestamp(${bind(String(Date.parse(updatedSince)))}::float8 / 1000)`);
  }
  if (version === 'latest') conditions.push('e.is_latest');
  else if (version !== undefined) conditions.push(`e.version = ${bind(version)}`);
  if (!includeDeleted) conditions.push("e.status <> 'deleted'");
  return [...conditions, ...facetConditions(query, bind)];
}

function searchConditions(text: string, bind: Bind): string[] {
  const grams = gramsOf(text);
  return [
    // The index finds the rows that may hold the text. A shorter text is common: the first rows that do are soon found.
    ...(grams.length === 0 ? [] : [`e.grams @> ${bind(grams.map(String))}::integer[]`]),
    // strpos knows no wildcards, so there is nothing to escape.
    `strpos(e.search, ${bind(text)}) > 0`,
  ];
}

function facetConditions({ tags, tiers, statuses, transports }: ListQuery, bind: Bind): string[] {
  return [
    ...(tags === undefined ? [] : [`e.tags @> ${bind(tags)}::text[]`]),
    ...(tiers === undefined ? [] : [`lower(e.tier) = any (${bind(tiers.map((tier) => tier.toLowerCase()))}::text[])`]),
    ...(statuses === undefined ? [] : [`e.status = any (${bind(statuses)}::text[])`]),
    ...(transports === undefined ? [] : [`e.transports && ${bind(transports)}::text[]`]),
  ];
}

/** Newest publication first; of those published together the highest version first. */
export async function versionsOf(
  client: pg.Client,
  key: SourceKey,
  name: string,
  includeDeleted: boolean,
): Promise<readonly StoredEntry[]> {
  const { rows } = await client.query<EntryRow>(
    `select ${COLUMNS} ${FROM_SOURCE} and e.name = $4 and ($5 or e.status <> 'deleted')`,
    [key.namespace, key.registry, key.source, storable(name), includeDeleted],
  );
  return rows
    .map(toEntry)
    .sort((a, b) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt) || compareVersions(b.version, a.version));
}

export async function versionOf(
  client: pg.Client,
  key: SourceKey,
  name: string,
  version: string,
  includeDeleted: boolean,
): Promise<StoredEntry | undefined> {
  const { rows } = await client.query<EntryRow>(
    `select ${COLUMNS} ${FROM_SOURCE} and e.name = $4 and ($6 or e.status <> 'deleted')
     and case when $5 = 'latest' then e.is_latest else e.version = $5 end`,
    [key.namespace, key.registry, key.source, storable(name), storable(version), includeDeleted],
  );
  return rows[0] === undefined ? undefined : toEntry(rows[0]);
}

export async function facetsOf(client: pg.Client, key: SourceKey): Promise<Facets> {
  const { rows } = await client.query<{ facet: string; value: string; count: string }>(
    `with latest as (select e.tags, e.tier, e.status, e.transports ${FROM_SOURCE} and e.is_latest),
       counted as (
         select 'tag' as facet, unnest(tags) as value from latest
         union all select 'tier', tier from latest where tier is not null
         union all select 'status', status from latest
         union all select 'transport', unnest(transports) from latest)
     select facet, value, count(*) as count from counted group by facet, value
     order by facet, count(*) desc, value collate "C"`,
    [key.namespace, key.registry, key.source],
  );
  function counts(facet: string): readonly FacetCount[] {
    return rows.filter((row) => row.facet === facet).map(({ value, count }) => ({ value, count: Number(count) }));
  }
  return { tags: counts('tag'), tiers: counts('tier'), statuses: counts('status'), transports: counts('transport') };
}

/** The id is part of it: a source that was removed and declared again begins to count anew. */
export async function revisionOf(client: pg.Client, key: SourceKey): Promise<string> {
  const { rows } = await client.query<{ revision: string }>(
    `select id || '.' || revision as revision from catalogue_source
     where namespace = $1 and registry = $2 and source = $3`,
    [key.namespace, key.registry, key.source],
  );
  return rows[0]?.revision ?? '0';
}

export async function statesOf(client: pg.Client, registry: Omit<SourceKey, 'source'>): Promise<CatalogueState> {
  const { rows } = await client.query<SourceRow>(
    `select source, case when claimed_until > clock_timestamp() then 'Syncing' else phase end as phase, ${STATE_COLUMNS}
     from catalogue_source where namespace = $1 and registry = $2 order by source`,
    [registry.namespace, registry.registry],
  );
  return Object.fromEntries(rows.map((row) => [row.source, toState(row)]));
}

/** As it was recorded, whoever has a claim. */
export async function recordedState(client: pg.Client, key: SourceKey): Promise<SourceState | undefined> {
  const { rows } = await client.query<SourceRow>(
    `select source, phase, ${STATE_COLUMNS} from catalogue_source where namespace = $1 and registry = $2 and source = $3`,
    [key.namespace, key.registry, key.source],
  );
  return rows[0] === undefined ? undefined : toState(rows[0]);
}

export async function imagesOf(client: pg.Client, registry: Omit<SourceKey, 'source'>): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ image: string }>(
    `select distinct unnest(e.images) as image
     from catalogue_entry e join catalogue_source s on s.id = e.source_id
     where s.namespace = $1 and s.registry = $2 and e.status <> 'deleted'`,
    [registry.namespace, registry.registry],
  );
  return new Set(rows.map(({ image }) => image));
}

function toEntry(row: EntryRow): StoredEntry {
  const { name, version, document, status } = row;
  return {
    name,
    version,
    document,
    status,
    isLatest: row.is_latest,
    publishedAt: row.published_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.status_message === null ? {} : { statusMessage: row.status_message }),
    statusChangedAt: row.status_changed_at.toISOString(),
  };
}

function toState(row: SourceRow): SourceState {
  return {
    phase: row.phase,
    message: row.message,
    ...(row.last_attempt === null ? {} : { lastAttempt: row.last_attempt.toISOString() }),
    attemptCount: row.attempt_count,
    ...(row.last_sync_time === null ? {} : { lastSyncTime: row.last_sync_time.toISOString() }),
    ...(row.last_sync_hash === null ? {} : { lastSyncHash: row.last_sync_hash }),
    ...(row.filter_hash === null ? {} : { filterHash: row.filter_hash }),
    ...(row.declaration_hash === null ? {} : { declarationHash: row.declaration_hash }),
    serverCount: row.server_count,
    rejectedCount: row.rejected_count,
    ...(row.manual_trigger === null ? {} : { trigger: row.manual_trigger }),
    ...(row.requests === '0' ? {} : { requests: Number(row.requests) }),
    ...(row.requests_served === '0' ? {} : { requestsServed: Number(row.requests_served) }),
    ...(row.wanted_trigger === null ? {} : { wantedTrigger: row.wanted_trigger }),
    ...(row.resume === null || row.resume === undefined ? {} : { resume: row.resume }),
  };
}

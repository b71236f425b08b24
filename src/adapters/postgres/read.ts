// Reads the catalogue and converts rows to entries. Statements are prepared, so the server plans each once per
// connection. outline.ts filters lists.

import type pg from 'pg';
import { PUBLISHER_PROVIDED } from '#contracts/server-document.ts';
import type { EntryStatus, StoredEntry } from '#registry/catalogue/entry.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';
import { parseJson } from '#std/json.ts';
import { compareVersions } from '#std/versions.ts';
import type { Outlined, VersionId } from './outline.ts';
import { pgPackage } from './package.ts';
import { IS_LATEST, milliseconds, type RawRow, readRows, remembered, timeFrom } from './rows.ts';
import { type Searched, searchedOf } from './search.ts';
import { storable } from './write.ts';

/** Columns of a served entry, in the order in which `toEntries` reads them. */
const SERVED = `e.name, e.version, e.document, e.status, e.status_message, ${IS_LATEST}, ${milliseconds('e.published_at')},
  ${milliseconds('e.updated_at')}, ${milliseconds('coalesce(e.status_changed_at, e.published_at)')}`;

const OF_SOURCE = 'namespace = $1 and registry = $2 and source = $3';

/** Uses a subquery instead of a join. The indexes begin with the source, so they can answer the whole query. */
const ENTRIES = `catalogue_entry e where e.source_id = (select id from catalogue_source where ${OF_SOURCE})`;

export const REVISION = "s.id || '.' || s.revision || '.' || s.edition";

/** Revision of a source that never synced. */
const NO_REVISION = '0';

/** The oid of text[], because pg has names only for oids of single values. */
const TEXT_LIST: number = 1009;

/**
 * Returns the revision with the source's id and the database's edition. The counter restarts for a source that was
 * removed and declared again, and for a restored database.
 */
export async function readCatalogueRevision(client: pg.Client, key: SourceKey): Promise<string> {
  const text = `select ${REVISION} from catalogue_source s where ${OF_SOURCE}`;
  const rows = await readRows(client, 'revision', text, valuesOf(key));
  return rows[0]?.[0] ?? NO_REVISION;
}

/**
 * Maximum bytes of the documents in one page. A hundred documents of maximum size would exceed the memory of a replica.
 */
const PAGE_BYTES = 4 * 1024 * 1024;

interface ReadEntries {
  readonly revision: string;
  /** Entries in the order of `ids`. If the entries exceed the page size, contains only the first entries. */
  readonly entries: readonly StoredEntry[];
  /** Number of ids that exist. */
  readonly found: number;
}

export async function readCatalogueEntries(
  client: pg.Client,
  key: SourceKey,
  ids: readonly VersionId[],
): Promise<ReadEntries> {
  const rows = await readRows(
    client,
    'entries',
    `select ${REVISION}, found.* from catalogue_source s left join lateral (
       select e.found, ${SERVED} from (
         select e.*, k.at, count(*) over () as found,
           sum(octet_length(e.document::text)) over (order by k.at rows unbounded preceding) as bytes
         from unnest($4::text[], $5::text[]) with ordinality as k(name, version, at)
         join catalogue_entry e on e.source_id = s.id and e.name = k.name and e.version = k.version
       ) e where e.bytes <= ${PAGE_BYTES} or e.at = 1 order by e.at
     ) as found on true where ${OF_SOURCE}`,
    [...valuesOf(key), ids.map(({ name }) => name), ids.map(({ version }) => version)],
  );
  const entries = toEntries(rows.filter(([, found]) => found !== null).map((row) => row.slice(2)));
  return { revision: rows[0]?.[0] ?? NO_REVISION, entries, found: Number(rows[0]?.[1] ?? 0) };
}

/**
 * Returns versions, latest publication first. Versions with equal publication times are sorted by version, highest
 * first.
 */
export async function readEntryVersions(
  client: pg.Client,
  key: SourceKey,
  name: string,
  includeDeleted: boolean,
): Promise<readonly StoredEntry[]> {
  const text = `select ${SERVED} from ${ENTRIES} and e.name = $4 and ($5 or e.status <> 'deleted')`;
  const rows = await readRows(client, 'versions', text, [...valuesOf(key), storable(name), includeDeleted]);
  return toEntries(rows).toSorted(
    (a, b) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt) || compareVersions(b.version, a.version),
  );
}

export async function readEntryVersion(
  client: pg.Client,
  key: SourceKey,
  name: string,
  version: string,
  includeDeleted: boolean,
): Promise<StoredEntry | undefined> {
  const named = [...valuesOf(key), storable(name)];
  const rows =
    version === 'latest'
      ? await readRows(
          client,
          'latest',
          `select ${SERVED} from ${ENTRIES} and e.name = $4 and ${IS_LATEST} and ($5 or e.status <> 'deleted')`,
          [...named, includeDeleted],
        )
      : await readRows(
          client,
          'version',
          `select ${SERVED} from ${ENTRIES} and e.name = $4 and e.version = $5 and ($6 or e.status <> 'deleted')`,
          [...named, storable(version), includeDeleted],
        );
  return toEntries(rows)[0];
}

/**
 * jsonb cannot contain NUL or unpaired surrogates. A document with these characters must not fail the whole outline.
 */
const IS_READABLE = "e.document::text !~ '\\\\u(0000|d[89a-f])'";

/** Fields of publishers' metadata at `<vendor>.<key>`: tool names, stars, pulls and the time of the last update. */
const OF_PUBLISHER = `jsonb_path_query_array(p.provided, '$.*.*.tools[*]')
    || jsonb_path_query_array(p.provided, '$.*.*.tool_definitions[*].name'),
  jsonb_path_query_first(p.provided, '$.*.*.metadata.stars'), jsonb_path_query_first(p.provided, '$.*.*.metadata.pulls'),
  jsonb_path_query_first(p.provided, '$.*.*.metadata.last_updated') #>> '{}'`;

const OUTLINE = `select e.name, e.version, e.status, ${IS_LATEST}, ${milliseconds('e.updated_at')}, e.title, e.description,
  e.tags, e.tier, e.transports, ${OF_PUBLISHER} from catalogue_entry e,
  lateral (select case when ${IS_READABLE} then e.document::jsonb #> '{_meta,${PUBLISHER_PROVIDED}}' end) as p (provided)
  where e.source_id = $1`;

/** Number of rows that are processed between two yields to other requests. */
const OUTLINE_ROWS = 250;

/**
 * Reads all versions of the source with this id, sorted. With a time (milliseconds since 1970), reads only versions
 * written after it. Must run in a snapshot, so that all rows have the same state.
 */
export async function readOutline(
  client: pg.Client,
  sourceId: string,
  after = Number.NEGATIVE_INFINITY,
): Promise<readonly Outlined[]> {
  const later = 'e.updated_at > to_timestamp($2::float8 / 1000)';
  const cursor = `declare outline no scroll cursor for ${OUTLINE} and ${later} order by e.name, e.version`;
  await readRows(client, undefined, cursor, [sourceId, after]);
  const listOf = remembered<readonly string[]>(pgPackage().types.getTypeParser(TEXT_LIST));
  const outlined: Outlined[] = [];
  for (let count = OUTLINE_ROWS; count === OUTLINE_ROWS; ) {
    const rows = await readRows(client, undefined, `fetch ${OUTLINE_ROWS} from outline`, []);
    for (const row of rows) outlined.push(toOutlined(row, listOf, outlined.at(-1)?.searched));
    count = rows.length;
  }
  await readRows(client, undefined, 'close outline', []);
  return outlined;
}

/** An id that no row has, because ids begin at 1. */
const NO_ID = '0';

/** Throws if the schema lacks a column that outlines need. */
export async function checkOutline(client: pg.Client): Promise<void> {
  await readRows(client, 'no outline', OUTLINE, [NO_ID]);
}

function toOutlined(row: RawRow, listOf: (text: string) => readonly string[], last?: Searched): Outlined {
  const [name, version, status, isLatest, updatedAt, title, description, tags, tier, transports, ...published] = row;
  const [tools, stars, pulls, lastUpdated] = published;
  const [ownTags, changedAt] = [listOf(tags ?? '{}'), Date.parse(lastUpdated ?? '')];
  return {
    name: name ?? '',
    version: version ?? '',
    status: status as EntryStatus,
    isLatest: isLatest === 't',
    updatedAt: Number(updatedAt),
    searched: searchedOf([name ?? '', title ?? '', description ?? '', ...ownTags, ...toolsFrom(tools ?? '[]')], last),
    tags: ownTags,
    tier: tier ?? undefined,
    transports: listOf(transports ?? '{}'),
    stars: countFrom(stars),
    pulls: countFrom(pulls),
    changedAt: Number.isNaN(changedAt) ? Number(updatedAt) : changedAt,
  };
}

/** Publishers may have written any value. */
function toolsFrom(text: string): readonly string[] {
  const tools = parseJson(text);
  return Array.isArray(tools) ? [...new Set(tools.filter((tool) => typeof tool === 'string'))] : [];
}

/** Limits the value to the largest integer that JSON represents exactly, because cursors contain the value. */
function countFrom(text: string | null | undefined): number | undefined {
  return /^[0-9]+$/.test(text ?? '') ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

export async function readImages(client: pg.Client, registry: Omit<SourceKey, 'source'>): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ image: string }>(
    `select distinct unnest(e.images) as image
     from catalogue_entry e join catalogue_source s on s.id = e.source_id
     where s.namespace = $1 and s.registry = $2 and e.status <> 'deleted'`,
    [registry.namespace, registry.registry],
  );
  return new Set(rows.map(({ image }) => image));
}

/**
 * Returns documents whose text contains a provenance. Few publishers provide a provenance, so other documents are not
 * parsed.
 */
export async function readProvenance(
  client: pg.Client,
  registry: Omit<SourceKey, 'source'>,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ document: string }>(
    `select e.document::text as document
     from catalogue_entry e join catalogue_source s on s.id = e.source_id
     where s.namespace = $1 and s.registry = $2 and e.status <> 'deleted' and e.images <> '{}'
       and position('"provenance"' in e.document::text) > 0`,
    [registry.namespace, registry.registry],
  );
  return rows.map(({ document }) => document);
}

function toEntries(rows: readonly RawRow[]): readonly StoredEntry[] {
  const timeOf = remembered(timeFrom);
  return rows.map(([name, version, document, status, message, isLatest, publishedAt, updatedAt, statusChangedAt]) => ({
    name: name ?? '',
    version: version ?? '',
    document: document ?? '',
    status: status as EntryStatus,
    isLatest: isLatest === 't',
    publishedAt: timeOf(publishedAt ?? ''),
    updatedAt: timeOf(updatedAt ?? ''),
    statusMessage: message ?? undefined,
    statusChangedAt: timeOf(statusChangedAt ?? ''),
  }));
}

function valuesOf({ namespace, registry, source }: SourceKey): readonly string[] {
  return [namespace, registry, source];
}
